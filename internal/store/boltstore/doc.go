// Package boltstore keeps a store.Log in one bbolt file. It is the only
// package that knows bbolt.
//
// # What holds
//
// Append is one bbolt transaction: records, history and position become
// visible and durable together. No bytes of a transaction leave it; all that
// the package gives out are copies. Read transactions that the package opens
// for itself end before it returns or yields; only a Snapshot holds one, and
// the address space mapped at Open is large enough that a writer never has to
// wait for a Snapshot to make room (see mapReserve).
//
// Nothing is repaired and nothing is guessed. Open reads the whole structure
// of the file before bbolt maps it, without trusting a byte of it: both meta
// pages, every page that can be reached, the freelist, the order of all keys
// and the checksum of every key with its value, record bodies left out.
// Damage there is refused as a *CorruptError that names the place. bbolt
// itself checks little of what it maps: a wrong page number can send it into
// an endless recursion, which ends the process, and a wrong freelist lets it
// overwrite live pages. A body is checked against its SHA-256 whenever it is
// read. What goes wrong in the memory map later (an I/O error, a file cut off
// under the running process) is caught and given as ErrCorrupt too.
//
// # Layout, format version 1
//
// The file is a bbolt file (its format version 2) with six buckets. Integers
// are big-endian. Each value begins with 4 bytes crc: the CRC-32C
// (Castagnoli) of the bucket's name, one byte 0, the key, and the value from
// byte 4 on — in records and history up to where the body begins.
//
// Bucket "meta":
//
//	key "format"    4 crc
//	               14 "incidentgraph" and one byte 0
//	                4 format version
//	key "state"     4 crc
//	               16 lineage
//	                8 sequence of the head
//	               32 digest of the head
//	                8 horizon: changes after this sequence are held whole
//	                8 number of records
//	                8 number of entries of history
//	                8 number of tombstones
//
// The entry "format" is the same in every version of the format, so that each
// program can name the version of a file that it can't read.
//
// Bucket "changes", one entry a change, none missing:
//
//	key             8 sequence, from 1
//	value           4 crc
//	               32 digest of the position that the change led to
//	                4 length n of the encoding
//	                n encoding of the change (see store.Header.Encode)
//	                8 for each operation: the version that it gave its record
//
// Bucket "records", one entry a record:
//
//	key               record id
//	value           4 crc
//	                8 version
//	                8 sequence of the change that wrote it
//	               12 time of that change: seconds, nanoseconds (see store.AppendTime)
//	                4 length n of the body
//	               32 SHA-256 of the body
//	                n body, the record as it was put
//
// Bucket "history", one entry for each superseded or deleted record that was
// written by a change after the horizon:
//
//	key               record id, one byte 0
//	                8 version
//	value             as in records
//
// Bucket "requests", one entry a change:
//
//	key               request id
//	value           4 crc
//	                8 sequence
//
// Bucket "tombstones", one entry for each id that was deleted and not put
// again:
//
//	key               record id
//	value           4 crc
//	                8 version: that of the deletion
//	                8 sequence of the change that deleted it
//
// A version belongs to an id and counts its puts and deletions, so a record
// that is put again goes on from its tombstone.
//
// # Choices
//
// The freelist is written with each commit (NoFreelistSync is off): without
// it bbolt walks the whole file at each open to find the free pages, in a
// goroutine of its own where nobody can catch a panic. It is kept as a hash
// map (FreelistMapType), which bbolt documents as faster in almost all
// circumstances: records of many pages need runs of free pages, and the array
// is searched from its beginning for each. Keys are written in order; a page
// is filled whole where a batch lands behind all that is there (changes
// always; records that arrive sorted), and half elsewhere, so that later
// inserts find room. A bbolt file does not shrink: Compact writes a new one.
package boltstore
