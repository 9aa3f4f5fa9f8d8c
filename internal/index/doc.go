// Package index holds the incident graph in memory: look-up by case id,
// adjacency in both directions, postings of terms, orgs and regions, filters,
// sorted pages, recurrence chains. It is a view of the store that can be
// dropped and rebuilt at any time; it never reads or writes files and knows
// nothing of the store.
//
// # Shape
//
// Every case id that was ever seen, also one that records only name, has an
// Ord, a dense number that never changes and is never given to another id
// while the process lives. Terms, orgs and regions have dense numbers of
// their own. A Snapshot is immutable: it maps the numbers to nodes, postings
// and adjacency lists as they are at one revision, and shares with the next
// snapshot all that the change between them did not touch. Readers take one
// Snapshot per operation and need no lock.
//
// A link to a case that is not stored is an adjacency entry whose target has
// no node: it becomes an edge when the case arrives and stops being one when
// the case is deleted, without the naming record being touched.
//
// # Order
//
// Ords are in order of arrival and carry no meaning. Pages are sorted through
// permutations that a snapshot computes once per order when first asked, and
// derives from its predecessor where it can. Whatever is returned is in a
// defined order that depends on the records alone, not on their arrival.
package index
