// Package index holds the incident graph in memory: look-up by case id,
// adjacency in both directions, postings of terms, orgs and regions, filters,
// sorted pages, recurrence chains, paths. It is a view of the store that can
// be dropped and rebuilt at any time; it never reads or writes files and knows
// nothing of the store.
//
// # Numbers
//
// Every case id that was ever seen, also one that records only name, has an
// Ord, a dense number that never changes and is never given to another id
// while the process lives. Terms, orgs, regions and their spellings have dense
// numbers of their own. All snapshots share the names behind the numbers;
// readers find them without a lock while a batch adds more. Whether an
// incident, a term or an org is there is for a snapshot to say.
//
// # Snapshots
//
// A Snapshot is immutable: it maps the numbers to nodes, postings and adjacency
// lists as they are at one revision, and shares with the next snapshot all
// that the change between them did not touch. Maps are arrays in chunks of 256
// under one directory, postings are sets in blocks of 65,536 numbers; a batch
// copies a chunk or a block the first time that it changes it, so that loading
// many incidents in one batch costs time proportional to their number and
// changing one incident of a million some tens of kilobytes. Readers take one
// Snapshot per operation and need no lock.
//
// A link to a case that is not stored is an adjacency entry whose target has
// no node: it becomes an edge when the case arrives and stops being one when
// the case is deleted, without the naming record being touched.
//
// # Side by side
//
// A node holds all that is known of one incident. What filters, counts and
// comparisons read of very many incidents lies side by side beside the nodes:
// dates and the terms of each vocabulary (TermLists).
//
// # Pairs
//
// How many incidents have both of two terms is what lists of the one and the
// other show first. Of some hundred thousand incidents on, a snapshot counts
// the pairs of the terms that most of them have, in each block of numbers, when
// it first needs one, and derives the counts from its predecessor's. Then the
// intersection of two bitmaps is not read but for the page that is shown.
//
// # Chains
//
// Each member of a recurrence chain knows the chain's root, and each root its
// chain's size. A batch finds the new roots of what is below the incidents that
// it gives another parent, and nothing else. The members of a chain are put in
// order when someone first asks for them, once for all snapshots in which the
// chain stays as it is.
//
// # Order
//
// Ords are in order of arrival and carry no meaning; Arrange makes that order
// one in which most of what is asked for is near. Pages are sorted through
// lists of all incidents in one order, which a snapshot computes when first
// asked for the order, and derives from its predecessor's where few incidents
// changed. Such a list is cut in parts of some hundreds, of which a derived one
// shares those that no incident came to or left. Whatever is returned is in a
// defined order that depends on the records alone, not on their arrival and
// not on the order of maps.
//
// # Memory
//
// Lists, texts and names of one batch are cut off larger arrays, so that a
// million incidents are about a million objects for the garbage collector
// rather than eight. An array lives as long as any part of it is in use; small
// batches make small ones.
package index
