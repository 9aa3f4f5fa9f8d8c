// Package search is the full-text index over incidents, orgs and terms, in
// English, Korean and whatever else records are written in. It is a view of
// the store that can be dropped and filled again: a batch of changes is
// committed together with the position that it leads to, and Position tells
// from where to catch up.
//
// # Analysis
//
// Documents and queries go through one chain: NFKC, lower case, runs of one
// script (DynamoDB의 is dynamodb and 의), digits with the letters that they
// stand with (ec2, 5.0.1). A run of letters is one token; one of English
// letters is stemmed (Porter2). A run of Hangul, Kanji, kana, Hanzi or a script
// of South-East Asia becomes overlapping bigrams, a run of one character
// itself. The first syllable of a short Korean run whose rest is a particle is
// a token too, so that 큐 is found in 큐가.
//
// A query word of several tokens looks for them side by side, be it 재시도 or
// us-east-1. Of a query word alone a particle after another script is left
// out: DynamoDB의 looks for dynamodb.
//
// # Queries
//
// All words must be somewhere in the document, phrases and words of a field
// where they are said to be, excluded words nowhere. Where fewer than three
// documents have all that, plain words may be missing (phrases and words of a
// field may not), Korean words lose their particles, words of several runs
// fall apart, and what has at least an average share of the words follows as
// partial hits. The score tells: 1 to 2 for documents with everything, by BM25
// over all fields with a bonus for headings; 0 to 1 for partial hits; 2 to 3
// where the query is the name or the id of the hit.
//
// A Reader answers queries. It speaks of incidents in numbers of its user's
// instead of ids, for sets of numbers are small and quick to combine: Find
// gives what matches one clause of a query, Search a page of hits. The numbers
// of a segment's documents are read once, when they are first needed, since a
// segment never changes; after a commit these are those of the new segment, and
// from time to time those of one that others were merged into. Commits are
// counted, and the last ones remember what they changed, so that what Find has
// once found need be looked at again only where it was touched.
//
// Documents hold the labels of their terms in all languages of the vocabulary,
// so that 재시도 폭풍 finds an incident written in English only; the terms that
// words of the query name are given back.
//
// # Storage
//
// The index is bleve's: its engine scorch keeps immutable segments (term
// dictionaries as automata, roaring bitmaps, positions) in *.zap files and
// names the segments of the newest state, with the position, in root.bolt,
// which it replaces in one synced transaction. Bleve is kept well and its
// storage is what would be hard to write as well; an inverted index of our own
// would repeat it, and bluge, its offspring, has had no release since 2022.
// What lies above its segments is our own, because scorch is used without
// bleve's mappings and searchers: over 100,000 records its phrase searcher,
// which every Korean word needs, takes 70 ms for a common word where reading
// the segments takes 5; its hits have no stable order, a filter over tens of
// thousands of hits needs their ids one by one, and its cjk analyzer makes no
// bigrams of Hangul.
//
// A document's id begins with a byte for its kind:
//
//	'i' case id
//	'o' slug 0 hash                form of an org's name that records use
//	't' vocabulary slug 0 hash     form of a term's name that records use
//	'l' vocabulary slug 0 hash     form of a term's name that the vocabulary lists
//
// where vocabulary is 'A' plus its number and hash the first 8 bytes of the
// form's SHA-256 in hexadecimal. A form appears with the first incident that
// uses it and goes with the last one, in the same commit. The fields are
//
//	text   of incidents: all tokens with frequencies and positions
//	head   of incidents: the terms in titles and names of orgs and terms
//	key    of incidents: "*" and the ids of the forms used
//	forms  of incidents, stored: the ids of the forms used, by lines
//	name   of forms: all tokens with frequencies and positions
//	whole  of forms: all tokens in one term, a blank between them
//
// A position is p<<5 | Field, where p counts within the field: a word takes
// one, n bigram characters take n, one stays free after each run and one more
// after each text. So two bigrams at p and p+2 are of one run, and every second
// bigram of a run, with the last, is proof of all of them.
//
// Beside the documents stand the values "version" (format, Unicode tables and
// a hash of the vocabulary's names: an index with another one is emptied),
// "position" and "commits" (their number, 8 bytes, the highest first; missing
// before the first one that counted).
package search
