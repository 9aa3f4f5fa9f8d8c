package boltstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"incidentgraph/internal/store"
)

// FormatVersion is the version of the file layout that this package writes
// and reads.
const FormatVersion = 1

// The buckets, and the keys of bucket meta.
const (
	bucketMeta       = "meta"
	bucketChanges    = "changes"
	bucketRecords    = "records"
	bucketHistory    = "history"
	bucketRequests   = "requests"
	bucketTombstones = "tombstones"

	keyFormat = "format"
	keyState  = "state"

	formatMark = "incidentgraph\x00"
)

// bucketNames lists the buckets of a store in the order of the file.
func bucketNames() []string {
	return []string{bucketChanges, bucketHistory, bucketMeta, bucketRecords, bucketRequests, bucketTombstones}
}

// Sizes of values, and of those parts of them that the checksum covers.
const (
	crcSize          = 4
	formatSize       = crcSize + len(formatMark) + 4
	stateSize        = crcSize + 16 + 8 + sha256.Size + 4*8
	recordHeaderSize = crcSize + 8 + 8 + store.TimeBytes + 4 + sha256.Size
	changeHeadSize   = crcSize + sha256.Size + 4
	requestSize      = crcSize + 8
	tombstoneSize    = crcSize + 8 + 8
	historyTailSize  = 1 + 8 // of a key, behind the id
)

var errChecksum = errors.New("checksum does not match")

// checksum gives the CRC-32C of a value under its bucket and key. The value
// comes without its first four bytes.
func checksum(bucket string, key, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli) // made once, then shared
	sum := crc32.Update(0, table, []byte(bucket))
	sum = crc32.Update(sum, table, []byte{0})
	sum = crc32.Update(sum, table, key)
	return crc32.Update(sum, table, value)
}

// seal fills in the checksum of a value whose first n bytes it covers.
func seal(bucket string, key, value []byte, n int) []byte {
	binary.BigEndian.PutUint32(value, checksum(bucket, key, value[crcSize:n]))
	return value
}

// unseal checks the size and the checksum of a value that is covered whole.
func unseal(bucket string, key, value []byte, size int) error {
	if len(value) != size {
		return fmt.Errorf("value has %d bytes, want %d", len(value), size)
	}
	return unsealHead(bucket, key, value, size)
}

// unsealHead checks a value whose checksum covers its first n bytes.
func unsealHead(bucket string, key, value []byte, n int) error {
	if len(value) < n {
		return fmt.Errorf("value has %d bytes, want at least %d", len(value), n)
	}
	if binary.BigEndian.Uint32(value) != checksum(bucket, key, value[crcSize:n]) {
		return errChecksum
	}
	return nil
}

func encodeFormat(version uint32) []byte {
	b := make([]byte, crcSize, formatSize)
	b = append(b, formatMark...)
	b = binary.BigEndian.AppendUint32(b, version)
	return seal(bucketMeta, []byte(keyFormat), b, len(b))
}

// errForeign: the entry is not this program's.
var errForeign = errors.New("not a format entry of this program")

func decodeFormat(b []byte) (uint32, error) {
	if len(b) != formatSize || !bytes.HasPrefix(b[crcSize:], []byte(formatMark)) {
		return 0, errForeign
	}
	if err := unseal(bucketMeta, []byte(keyFormat), b, formatSize); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b[formatSize-4:]), nil
}

// fileState is the entry "state": the position and the counts that the rest of the
// file must agree with.
type fileState struct {
	head                         store.Position
	horizon                      uint64
	records, history, tombstones uint64
}

func (s fileState) encode() []byte {
	b := make([]byte, crcSize, stateSize)
	b = append(b, s.head.Lineage[:]...)
	b = binary.BigEndian.AppendUint64(b, s.head.Sequence)
	b = append(b, s.head.Digest[:]...)
	for _, n := range []uint64{s.horizon, s.records, s.history, s.tombstones} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return seal(bucketMeta, []byte(keyState), b, len(b))
}

func decodeState(b []byte) (fileState, error) {
	if err := unseal(bucketMeta, []byte(keyState), b, stateSize); err != nil {
		return fileState{}, err
	}
	var s fileState
	b = b[crcSize:]
	b = b[copy(s.head.Lineage[:], b):]
	s.head.Sequence, b = binary.BigEndian.Uint64(b), b[8:]
	b = b[copy(s.head.Digest[:], b):]
	for _, n := range []*uint64{&s.horizon, &s.records, &s.history, &s.tombstones} {
		*n, b = binary.BigEndian.Uint64(b), b[8:]
	}
	return s, nil
}

func sequenceKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func decodeSequenceKey(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("key has %d bytes, want 8", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}

// changeEntry is a value of changes.
type changeEntry struct {
	digest   store.Digest
	encoding []byte
	header   store.Header
	versions []uint64 // of header.Ops
}

// encodeChange makes the value of changes for one position.
func encodeChange(p store.Position, encoding []byte, versions []uint64) []byte {
	b := make([]byte, crcSize, changeHeadSize+len(encoding)+8*len(versions))
	b = append(b, p.Digest[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(encoding)))
	b = append(b, encoding...)
	for _, v := range versions {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return seal(bucketChanges, sequenceKey(p.Sequence), b, len(b))
}

// decodeDigest reads no more of a value of changes than the digest.
func decodeDigest(key, value []byte) (store.Digest, error) {
	if err := unseal(bucketChanges, key, value, max(len(value), changeHeadSize)); err != nil {
		return store.Digest{}, err
	}
	return store.Digest(value[crcSize : crcSize+sha256.Size]), nil
}

func decodeChange(key, value []byte) (changeEntry, error) {
	var c changeEntry
	var err error
	if c.digest, err = decodeDigest(key, value); err != nil {
		return changeEntry{}, err
	}
	n := binary.BigEndian.Uint32(value[changeHeadSize-4:])
	rest := value[changeHeadSize:]
	if uint64(n) > uint64(len(rest)) {
		return changeEntry{}, fmt.Errorf("encoding of %d bytes in a value of %d", n, len(value))
	}
	c.encoding, rest = rest[:n], rest[n:]
	if c.header, err = store.DecodeHeader(c.encoding); err != nil {
		return changeEntry{}, err
	}
	if len(rest) != 8*len(c.header.Ops) {
		return changeEntry{}, fmt.Errorf("%d bytes of versions for %d operations", len(rest), len(c.header.Ops))
	}
	c.versions = make([]uint64, len(c.header.Ops))
	for i := range c.versions {
		c.versions[i] = binary.BigEndian.Uint64(rest[8*i:])
	}
	return c, nil
}

// recordHeader is what stands before the body in records and history.
type recordHeader struct {
	version  uint64
	sequence uint64
	time     time.Time
	size     uint32
	sum      [sha256.Size]byte
}

// encodeRecord makes a value of records or history.
func encodeRecord(bucket string, key []byte, h recordHeader, body []byte) []byte {
	b := make([]byte, crcSize, recordHeaderSize+len(body))
	b = binary.BigEndian.AppendUint64(b, h.version)
	b = binary.BigEndian.AppendUint64(b, h.sequence)
	b = store.AppendTime(b, h.time)
	b = binary.BigEndian.AppendUint32(b, h.size)
	b = append(b, h.sum[:]...)
	return seal(bucket, key, append(b, body...), recordHeaderSize)
}

// decodeRecordHeader reads the header at the front of a value; size is the
// length of the whole value.
func decodeRecordHeader(bucket string, key, head []byte, size int) (recordHeader, error) {
	if err := unsealHead(bucket, key, head, recordHeaderSize); err != nil {
		return recordHeader{}, err
	}
	b := head[crcSize:recordHeaderSize]
	var h recordHeader
	var err error
	h.version, b = binary.BigEndian.Uint64(b), b[8:]
	h.sequence, b = binary.BigEndian.Uint64(b), b[8:]
	if h.time, err = store.DecodeTime(b[:store.TimeBytes]); err != nil {
		return recordHeader{}, err
	}
	b = b[store.TimeBytes:]
	h.size, b = binary.BigEndian.Uint32(b), b[4:]
	h.sum = [sha256.Size]byte(b)
	if got := size - recordHeaderSize; got != int(h.size) {
		return recordHeader{}, fmt.Errorf("body has %d bytes, want %d", got, h.size)
	}
	return h, nil
}

var errBody = errors.New("body does not match its SHA-256")

// decodeRecord reads a whole value and checks the body. The body is a part of
// value.
func decodeRecord(bucket string, key, value []byte) (recordHeader, []byte, error) {
	h, err := decodeRecordHeader(bucket, key, value, len(value))
	if err != nil {
		return recordHeader{}, nil, err
	}
	body := value[recordHeaderSize:len(value):len(value)]
	if sha256.Sum256(body) != h.sum {
		return recordHeader{}, nil, errBody
	}
	return h, body, nil
}

// historyKey gives the key of a superseded record.
func historyKey(id string, version uint64) []byte {
	b := make([]byte, 0, len(id)+historyTailSize)
	b = append(b, id...)
	b = append(b, 0)
	return binary.BigEndian.AppendUint64(b, version)
}

// decodeHistoryKey tells id and version. An id may itself hold zero bytes:
// the tail has a fixed length.
func decodeHistoryKey(key []byte) (id string, version uint64, err error) {
	n := len(key) - historyTailSize
	if n < 1 || key[n] != 0 {
		return "", 0, fmt.Errorf("key %q is not an id, a zero byte and a version", key)
	}
	return string(key[:n]), binary.BigEndian.Uint64(key[n+1:]), nil
}

func encodeRequest(requestID string, sequence uint64) []byte {
	b := make([]byte, crcSize, requestSize)
	b = binary.BigEndian.AppendUint64(b, sequence)
	return seal(bucketRequests, []byte(requestID), b, len(b))
}

func decodeRequest(key, value []byte) (sequence uint64, err error) {
	if err := unseal(bucketRequests, key, value, requestSize); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(value[crcSize:]), nil
}

func encodeTombstone(id string, version, sequence uint64) []byte {
	b := make([]byte, crcSize, tombstoneSize)
	b = binary.BigEndian.AppendUint64(b, version)
	b = binary.BigEndian.AppendUint64(b, sequence)
	return seal(bucketTombstones, []byte(id), b, len(b))
}

func decodeTombstone(key, value []byte) (version, sequence uint64, err error) {
	if err := unseal(bucketTombstones, key, value, tombstoneSize); err != nil {
		return 0, 0, err
	}
	return binary.BigEndian.Uint64(value[crcSize:]), binary.BigEndian.Uint64(value[crcSize+8:]), nil
}
