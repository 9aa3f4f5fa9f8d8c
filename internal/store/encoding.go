package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Header is a change in which each record is stood for by its length and its
// SHA-256. It is what the digest covers, so the chain of digests can be
// checked after superseded records are gone.
type Header struct {
	Time      time.Time
	Actor     string
	RequestID string
	Ops       []OpHeader
}

// OpHeader is an Op without its record.
type OpHeader struct {
	Kind OpKind
	ID   string
	// Size is the record's length in bytes, Sum its SHA-256; both zero for
	// Delete.
	Size uint32
	Sum  [sha256.Size]byte
}

// HeaderOf hashes the records of a valid change.
func HeaderOf(c Change) Header {
	h := Header{Time: c.Time.UTC().Round(0), Actor: c.Actor, RequestID: c.RequestID, Ops: make([]OpHeader, len(c.Ops))}
	for i, op := range c.Ops {
		h.Ops[i] = OpHeader{Kind: op.Kind, ID: op.ID}
		if op.Kind == Put {
			h.Ops[i].Size = uint32(len(op.Record))
			h.Ops[i].Sum = sha256.Sum256(op.Record)
		}
	}
	return h
}

// encodingVersion is the first byte of every encoding.
const encodingVersion = 1

// Sizes of the parts of an encoding whose length does not vary.
const (
	encodingHead = 1 + 8 + 4 + 2 + 1 + 4 // all but actor, request id and ops
	opHead       = 1 + 1                 // all but the id and what only a Put has
	putTail      = 4 + sha256.Size
)

// Encode gives the canonical encoding of the header of a valid change. One
// header has one encoding. Integers are big-endian:
//
//	1 byte   version of the encoding: 1
//	8 bytes  time: seconds since 1970-01-01T00:00:00Z, two's complement
//	4 bytes  time: nanoseconds, 0 to 999,999,999
//	2 bytes  length of the actor a
//	a bytes  actor
//	1 byte   length of the request id r
//	r bytes  request id
//	4 bytes  number of operations, then for each in order:
//	  1 byte    kind: 1 Put, 2 Delete
//	  1 byte    length of the record id i
//	  i bytes   record id
//	  4 bytes   length of the record    (Put only)
//	  32 bytes  SHA-256 of the record   (Put only)
func (h Header) Encode() []byte {
	size := encodingHead + len(h.Actor) + len(h.RequestID)
	for _, op := range h.Ops {
		size += opHead + len(op.ID) + putTail
	}
	b := make([]byte, 0, size)
	b = append(b, encodingVersion)
	b = AppendTime(b, h.Time)
	b = binary.BigEndian.AppendUint16(b, uint16(len(h.Actor)))
	b = append(b, h.Actor...)
	b = append(b, byte(len(h.RequestID)))
	b = append(b, h.RequestID...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(h.Ops)))
	for _, op := range h.Ops {
		b = append(b, byte(op.Kind), byte(len(op.ID)))
		b = append(b, op.ID...)
		if op.Kind == Put {
			b = binary.BigEndian.AppendUint32(b, op.Size)
			b = append(b, op.Sum[:]...)
		}
	}
	return b
}

// DecodeHeader reads an encoding. It takes exactly what Encode gives for a
// valid change; any other bytes are ErrCorrupt.
func DecodeHeader(b []byte) (Header, error) {
	h, err := decodeHeader(b)
	if err != nil {
		return Header{}, fmt.Errorf("%w: change encoding: %w", ErrCorrupt, err)
	}
	return h, nil
}

func decodeHeader(b []byte) (Header, error) {
	r := reader{rest: b}
	if v := r.byte(); !r.short && v != encodingVersion {
		return Header{}, fmt.Errorf("version %d, want %d", v, encodingVersion)
	}
	var h Header
	var err error
	h.Time, err = DecodeTime(r.bytes(TimeBytes))
	h.Actor = string(r.bytes(int(r.uint16())))
	h.RequestID = string(r.bytes(int(r.byte())))
	n := int(r.uint32())
	if r.short {
		return Header{}, errShort
	}
	if err != nil {
		return Header{}, err
	}
	// The count is checked against the bytes that are there before it sizes
	// memory.
	if n > len(r.rest)/(opHead+1) {
		return Header{}, errShort
	}
	h.Ops = make([]OpHeader, n)
	for i := range h.Ops {
		h.Ops[i] = r.op()
	}
	if r.short {
		return Header{}, errShort
	}
	if len(r.rest) > 0 {
		return Header{}, fmt.Errorf("%d bytes too many", len(r.rest))
	}
	return h, h.validate()
}

var errShort = errors.New("too short")

// reader takes bytes from the front of rest. After the first that is missing
// it gives zeros and short is set.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) bytes(n int) []byte {
	if r.short || n > len(r.rest) {
		r.short = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) op() OpHeader {
	op := OpHeader{Kind: OpKind(r.byte())}
	op.ID = string(r.bytes(int(r.byte())))
	if op.Kind == Put {
		op.Size = r.uint32()
		copy(op.Sum[:], r.bytes(sha256.Size))
	}
	return op
}

// TimeBytes is the length of an encoded time.
const TimeBytes = 8 + 4

// AppendTime appends a time as encodings hold it: 8 bytes of seconds since
// 1970-01-01T00:00:00Z and 4 bytes of nanoseconds, big-endian.
func AppendTime(b []byte, t time.Time) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix()))
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

// DecodeTime reads what AppendTime appended, in UTC.
func DecodeTime(b []byte) (time.Time, error) {
	if len(b) != TimeBytes {
		return time.Time{}, errShort
	}
	nanoseconds := binary.BigEndian.Uint32(b[8:])
	if nanoseconds >= 1e9 {
		return time.Time{}, fmt.Errorf("%d nanoseconds", nanoseconds)
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b)), int64(nanoseconds)).UTC(), nil
}
