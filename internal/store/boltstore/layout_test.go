package boltstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incidentgraph/internal/store"
)

// TestLayoutIsTheDocumented compares values, their checksums left out, with
// the package comment, written out by hand.
func TestLayoutIsTheDocumented(t *testing.T) {
	when := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	const seconds, nanoseconds = "0000000069a7bdbf", "00000059"
	emptyObject := "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" // SHA-256 of "{}"
	sum, err := hex.DecodeString(emptyObject)
	if err != nil {
		t.Fatal(err)
	}
	header := recordHeader{version: 3, sequence: 5, time: when, size: 2, sum: [32]byte(sum)}
	position := store.Position{Sequence: 5, Digest: store.Digest(bytes.Repeat([]byte{0xd1}, 32))}
	state := fileState{
		head:    store.Position{Lineage: store.Lineage(bytes.Repeat([]byte{0xab}, 16)), Sequence: 5, Digest: position.Digest},
		horizon: 2, records: 7, history: 1, tombstones: 4,
	}
	record := "0000000000000003" + "0000000000000005" + seconds + nanoseconds + "00000002" + emptyObject + hex.EncodeToString([]byte("{}"))
	for _, test := range []struct {
		name  string
		value []byte
		want  string // without the checksum
	}{
		{"format", encodeFormat(1), hex.EncodeToString([]byte("incidentgraph\x00")) + "00000001"},
		{"state", state.encode(), strings.Repeat("ab", 16) + "0000000000000005" + strings.Repeat("d1", 32) +
			"0000000000000002" + "0000000000000007" + "0000000000000001" + "0000000000000004"},
		{"change", encodeChange(position, []byte("enc"), []uint64{1, 258}), strings.Repeat("d1", 32) + "00000003" +
			hex.EncodeToString([]byte("enc")) + "0000000000000001" + "0000000000000102"},
		{"record", encodeRecord(bucketRecords, []byte("id"), header, []byte("{}")), record},
		{"history", encodeRecord(bucketHistory, historyKey("id", 3), header, []byte("{}")), record},
		{"request", encodeRequest("req", 5), "0000000000000005"},
		{"tombstone", encodeTombstone("id", 3, 5), "0000000000000003" + "0000000000000005"},
	} {
		if got := hex.EncodeToString(test.value[crcSize:]); got != test.want {
			t.Errorf("%s = %s, want %s", test.name, got, test.want)
		}
	}
	if got, want := hex.EncodeToString(historyKey("id", 3)), "6964"+"00"+"0000000000000003"; got != want {
		t.Errorf("historyKey() = %s, want %s", got, want)
	}
}

// TestChecksum: CRC-32C by its definition, bit by bit (reflected polynomial
// 0x82f63b78), over bucket, zero byte, key and value.
func TestChecksum(t *testing.T) {
	bitwise := func(b []byte) uint32 {
		sum := ^uint32(0)
		for _, c := range b {
			sum ^= uint32(c)
			for range 8 {
				if sum&1 == 1 {
					sum = sum>>1 ^ 0x82f63b78
				} else {
					sum >>= 1
				}
			}
		}
		return ^sum
	}
	// The check value of the catalogue of CRCs (Williams 1993).
	if got := bitwise([]byte("123456789")); got != 0xe3069283 {
		t.Fatalf("bitwise CRC-32C = %#x, want 0xe3069283", got)
	}
	want := bitwise([]byte("records\x00keyvalue"))
	if got := checksum(bucketRecords, []byte("key"), []byte("value")); got != want {
		t.Errorf("checksum() = %#x, want %#x", got, want)
	}
}

// FuzzValues feeds the decoders of all values. What they take must encode to
// the same bytes.
func FuzzValues(f *testing.F) {
	key := []byte("id")
	h := store.HeaderOf(store.Change{RequestID: "r", Ops: []store.Op{{Kind: store.Put, ID: "id", Record: []byte("{}")}}})
	p := store.Position{Sequence: 1}
	f.Add(key, encodeFormat(1))
	f.Add(key, fileState{records: 1}.encode())
	f.Add(sequenceKey(1), encodeChange(p, h.Encode(), []uint64{1}))
	f.Add(key, encodeRecord(bucketRecords, key, recordHeader{size: 2, sum: h.Ops[0].Sum}, []byte("{}")))
	f.Add(historyKey("id", 1), encodeRecord(bucketHistory, historyKey("id", 1), recordHeader{version: 1, size: 2, sum: h.Ops[0].Sum}, []byte("{}")))
	f.Add(key, encodeRequest("id", 1))
	f.Add(key, encodeTombstone("id", 1, 1))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		again := func(what string, b []byte) {
			if !bytes.Equal(b, value) {
				t.Errorf("%s: %x becomes %x", what, value, b)
			}
		}
		sealed := bytes.Clone(value)
		if len(sealed) >= crcSize { // get past the checksum
			seal(bucketChanges, key, sealed, len(sealed))
		}
		if version, err := decodeFormat(value); err == nil {
			again("format", encodeFormat(version))
		}
		if state, err := decodeState(value); err == nil {
			again("state", state.encode())
		}
		if c, err := decodeChange(key, sealed); err == nil && len(key) == 8 {
			sequence, _ := decodeSequenceKey(key)
			value = sealed
			again("change", encodeChange(store.Position{Sequence: sequence, Digest: c.digest}, c.encoding, c.versions))
		}
		for _, bucket := range []string{bucketRecords, bucketHistory} {
			if len(value) >= recordHeaderSize {
				value = seal(bucket, key, bytes.Clone(value), recordHeaderSize)
			}
			if h, body, err := decodeRecord(bucket, key, value); err == nil {
				again(bucket, encodeRecord(bucket, key, h, body))
			}
		}
		if id, version, err := decodeHistoryKey(key); err == nil && !bytes.Equal(historyKey(id, version), key) {
			t.Errorf("history key %x becomes %x", key, historyKey(id, version))
		}
		if n, err := decodeRequest(key, value); err == nil {
			again("request", encodeRequest(string(key), n))
		}
		if version, n, err := decodeTombstone(key, value); err == nil {
			again("tombstone", encodeTombstone(string(key), version, n))
		}
	})
}

// FuzzFile opens whole files. What Open takes can be read without a panic.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.db")
	seed, err := Open(path, Options{Lineage: store.Lineage{1}})
	if err != nil {
		f.Fatal(err)
	}
	head, err := seed.Head(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, ops := range [][]store.Op{
		{{Kind: store.Put, ID: "a", Record: []byte("1")}, {Kind: store.Put, ID: "b", Record: bytes.Repeat([]byte("b"), 6000)}},
		{{Kind: store.Put, ID: "a", Record: []byte("2")}, {Kind: store.Delete, ID: "b"}},
	} {
		if head, err = seed.Append(f.Context(), head, store.Change{RequestID: ops[0].ID + string(ops[0].Record), Ops: ops}); err != nil {
			f.Fatal(err)
		}
	}
	if err := seed.Close(); err != nil {
		f.Fatal(err)
	}
	if _, err := Compact(f.Context(), path, ""); err != nil {
		f.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "fuzz.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(t.Context(), path, Options{}); err != nil && !isClear(err) {
			t.Errorf("Check() = %v, want a clear error", err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			if !isClear(err) {
				t.Errorf("Open() = %v, want a clear error", err)
			}
			return
		}
		defer closing(t, s)
		head, err := s.Head(t.Context())
		if err != nil {
			t.Fatalf("Head() = %v", err)
		}
		for _, err := range s.Follow(t.Context(), store.Position{}) {
			if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrCompacted) {
				t.Errorf("Follow() = %v, want a clear error", err)
			}
		}
		_, err = s.Append(t.Context(), head, store.Change{RequestID: "new", Ops: []store.Op{{Kind: store.Put, ID: "a", Record: []byte("3")}}})
		if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrInvalidChange) {
			t.Errorf("Append() = %v, want a clear error", err)
		}
	})
}

func isClear(err error) bool {
	for _, target := range []error{store.ErrCorrupt, ErrNotStore, ErrFormat} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// TestEmptyStoreIsSmall: a store of a few records must not fill a disk.
func TestEmptyStoreIsSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s)
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), head, store.Change{RequestID: "r", Ops: []store.Op{{Kind: store.Put, ID: "a", Record: []byte("1")}}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 256<<10 {
		t.Errorf("file of one record has %d bytes (%v), want at most 256 KiB", info.Size(), err)
	}
}
