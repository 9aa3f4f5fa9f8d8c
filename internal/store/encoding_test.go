package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/store"
)

// example uses every part of the layout.
func example() store.Change {
	return store.Change{
		Time:      time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC),
		Actor:     "김",
		RequestID: "req",
		Ops: []store.Op{
			{Kind: store.Put, ID: "IL-0282", Record: []byte("{}")},
			{Kind: store.Delete, ID: "B"},
		},
	}
}

// exampleEncoding is example by hand, after the comment on Header.Encode.
const exampleEncoding = "01" +
	"0000000069a7bdbf" + "00000059" + // 1772600767 s, 89 ns
	"0003" + "eab980" +
	"03" + "726571" +
	"00000002" +
	"01" + "07" + "494c2d30323832" + "00000002" +
	"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" + // SHA-256 of "{}"
	"02" + "01" + "42"

func TestEncodeIsTheDocumentedLayout(t *testing.T) {
	got := hex.EncodeToString(store.HeaderOf(example()).Encode())
	if got != exampleEncoding {
		t.Errorf("Encode() = %s, want %s", got, exampleEncoding)
	}
}

func TestDecodeHeaderGivesBackWhatWasEncoded(t *testing.T) {
	long := example()
	long.Actor = strings.Repeat("a", store.MaxActorBytes)
	long.RequestID = strings.Repeat("r", store.MaxRequestIDBytes)
	long.Ops[0].ID = strings.Repeat("\xff\x00", store.MaxIDBytes/2)
	for _, c := range []store.Change{
		example(),
		long,
		{RequestID: "r", Ops: []store.Op{{Kind: store.Delete, ID: "x"}}}, // zero time, no actor
		{Time: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), RequestID: "r", Ops: []store.Op{{Kind: store.Delete, ID: "x"}}},
	} {
		want := store.HeaderOf(c)
		got, err := store.DecodeHeader(want.Encode())
		if err != nil {
			t.Errorf("DecodeHeader(%+v) = %v", c, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("DecodeHeader(Encode(h)) differs (-want +got):\n%s", diff)
		}
	}
}

func TestHeaderOfHoldsTheInstantInUTC(t *testing.T) {
	c := example()
	c.Time = c.Time.In(time.FixedZone("KST", 9*3600))
	if got, want := store.HeaderOf(c).Encode(), store.HeaderOf(example()).Encode(); !bytes.Equal(got, want) {
		t.Errorf("the encoding depends on the time's zone")
	}
}

func TestDecodeHeaderRefuses(t *testing.T) {
	valid, err := hex.DecodeString(exampleEncoding)
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, to ...byte) []byte {
		b := bytes.Clone(valid)
		copy(b[at:], to)
		return b
	}
	tests := map[string][]byte{
		"nothing":                  {},
		"another version":          change(0, 2),
		"a year past 9999":         change(1, 0x7f),
		"a billion nanoseconds":    change(9, 0x3b, 0x9a, 0xca, 0x00),
		"actor that is not UTF-8":  change(15, 0xff),
		"actor past the end":       change(13, 0xff, 0xff),
		"more ops than bytes":      change(22, 0xff, 0xff, 0xff, 0xff),
		"no ops":                   change(22, 0, 0, 0, 0),
		"unknown kind":             change(26, 3),
		"put of an empty record":   change(35, 0, 0, 0, 0),
		"record beyond the limit":  change(35, 0xff),
		"bytes after the end":      append(bytes.Clone(valid), 0),
		"an id twice":              bytes.ReplaceAll(valid, []byte("\x02\x01B"), []byte("\x02\x07IL-0282")),
		"a request id of no bytes": bytes.ReplaceAll(valid, []byte("\x03req"), []byte{0}),
	}
	for name, b := range tests {
		if _, err := store.DecodeHeader(b); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("DecodeHeader(%s) = %v, want %v", name, err, store.ErrCorrupt)
		}
	}
	for n := range valid {
		if _, err := store.DecodeHeader(valid[:n]); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("DecodeHeader(first %d bytes) = %v, want %v", n, err, store.ErrCorrupt)
		}
	}
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add(store.HeaderOf(example()).Encode())
	f.Add(store.HeaderOf(store.Change{RequestID: "r", Ops: []store.Op{{Kind: store.Delete, ID: "x"}}}).Encode())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := store.DecodeHeader(b)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("DecodeHeader(%x) = %v, want %v", b, err, store.ErrCorrupt)
			}
			return
		}
		if got := h.Encode(); !bytes.Equal(got, b) {
			t.Errorf("Encode(DecodeHeader(%x)) = %x", b, got)
		}
	})
}

func TestPositionNext(t *testing.T) {
	p := store.Position{Lineage: store.Lineage{1, 2}, Sequence: 7, Digest: sha256.Sum256([]byte("before"))}
	got := p.Next([]byte("encoding"))
	want := store.Position{
		Lineage:  p.Lineage,
		Sequence: 8,
		Digest:   sha256.Sum256(append(p.Digest[:], "encoding"...)),
	}
	if got != want {
		t.Errorf("Next() = %v, want %v", got, want)
	}
}

func TestNewLineageIsNotRepeated(t *testing.T) {
	a, b := store.NewLineage(), store.NewLineage()
	if a == b || a == (store.Lineage{}) {
		t.Errorf("NewLineage() = %x, then %x", a, b)
	}
}
