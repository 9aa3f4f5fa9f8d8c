package store

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

// NewLineage draws a lineage at random.
func NewLineage() Lineage {
	var l Lineage
	// Read never fails: it ends the program where the system has no
	// randomness to give.
	_, _ = rand.Read(l[:])
	return l
}

// Next gives the position that the change with this encoding leads to from p:
// one more change, and
//
//	Digest(n) = SHA-256(Digest(n-1) ‖ encoding of change n)
func (p Position) Next(encoding []byte) Position {
	h := sha256.New()
	h.Write(p.Digest[:])
	h.Write(encoding)
	next := Position{Lineage: p.Lineage, Sequence: p.Sequence + 1}
	h.Sum(next.Digest[:0])
	return next
}

// String gives the sequence with the beginnings of lineage and digest, for
// people: `1204 (lineage 3f9a51c2, digest 08be77d1)`.
func (p Position) String() string {
	return fmt.Sprintf("%d (lineage %x, digest %x)", p.Sequence, p.Lineage[:4], p.Digest[:4])
}
