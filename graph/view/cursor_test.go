package view

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/index"
)

var somePlaces = []place{
	{list: incidentList, order: "\x01", values: []index.KeyValue{{N: 2015<<16 | 9<<8 | 20}}, key: "IL-0282"},
	{list: incidentList, order: "\x01\x06", values: []index.KeyValue{{Null: true}, {N: math.MaxInt64}}, key: strings.Repeat("x", 128)},
	{list: similarList, order: "\x00abcd", values: []index.KeyValue{{N: int64(math.Float64bits(0.5))}}, key: "a"},
	{list: memberList, values: []index.KeyValue{{N: math.MinInt64}, {Null: true}}, key: "b"},
	{list: orgList, values: []index.KeyValue{{}}, key: ""},
}

func TestCursorRoundTrip(t *testing.T) {
	for _, p := range somePlaces {
		got, ok := parseCursor(p.cursor())
		if !ok {
			t.Errorf("parseCursor(%q) fails, want %+v", p.cursor(), p)
			continue
		}
		if diff := cmp.Diff(p, *got, cmp.AllowUnexported(place{})); diff != "" {
			t.Errorf("parseCursor(cursor) (-want +got):\n%s", diff)
		}
	}
}

func TestParseCursorRefuses(t *testing.T) {
	good := somePlaces[0].cursor()
	for _, s := range []string{
		"", "?", good + "=", good + "!", good[:4], strings.Repeat("A", maxCursor+4),
		cursorEncoding.EncodeToString([]byte{2, 1, 0, 0}),                       // another version
		cursorEncoding.EncodeToString([]byte{1, 1, 200, 0}),                     // an order beyond the end
		cursorEncoding.EncodeToString([]byte{1, 1, 0, 200}),                     // too many values
		cursorEncoding.EncodeToString([]byte{1, 1, 0, 1}),                       // a value missing
		cursorEncoding.EncodeToString([]byte{1, 1, 0, 1, 1, 0x80, 0x00, 'a'}),   // a varint longer than needed
		cursorEncoding.EncodeToString([]byte{1, 1, 0, 1, 7, 0, 'a'}),            // neither null nor a number
		cursorEncoding.EncodeToString(append([]byte{1, 1, 0, 1, 1}, "\xff"...)), // a varint without an end
	} {
		if p, ok := parseCursor(s); ok {
			t.Errorf("parseCursor(%q) = %+v, want none", s, p)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, p := range somePlaces {
		f.Add(p.cursor())
	}
	f.Add("AQEAAQEC")
	f.Add("../../etc/passwd")
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := parseCursor(s)
		if ok && p.cursor() != s {
			t.Errorf("parseCursor(%q).cursor() = %q, want the same", s, p.cursor())
		}
	})
}

func FuzzNodeID(f *testing.F) {
	for _, id := range []string{nodeID(incidentID, "IL-0282"), nodeID('f', "retry-storm"), itemID("IL-0282", 3), itemID("a", 1<<20), "junk", ""} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		kind, key, ok := splitNodeID(id)
		if !ok {
			return
		}
		if got := nodeID(kind, key); got != id {
			t.Errorf("nodeID(splitNodeID(%q)) = %q, want the same", id, got)
		}
		if kind != actionItemID {
			return
		}
		if n, caseID, ok := splitItemKey(key); ok && itemID(caseID, n) != id {
			t.Errorf("itemID(%q, %d) = %q, want %q", caseID, n, itemID(caseID, n), id)
		}
	})
}

// TestWindow compares paging through a list in memory with the steps of the
// Relay specification taken one by one.
func TestWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		list := make([]*place, rng.IntN(12))
		for i := range list {
			list[i] = randomPlace(rng)
		}
		slices.SortFunc(list, (*place).compare)
		list = slices.CompactFunc(list, func(a, b *place) bool { return a.compare(b) == 0 })
		p := paging{first: rng.IntN(5), last: -1}
		if rng.IntN(2) == 0 {
			p = paging{first: -1, last: rng.IntN(5)}
		}
		if rng.IntN(2) == 0 {
			p.after = randomPlace(rng)
		}
		if rng.IntN(2) == 0 {
			p.before = randomPlace(rng)
		}

		var edges []*place // ApplyCursorsToEdges
		beyondAfter, beyondBefore := false, false
		for _, x := range list {
			switch {
			case p.after != nil && x.compare(p.after) <= 0:
				beyondAfter = true
			case p.before != nil && x.compare(p.before) >= 0:
				beyondBefore = true
			default:
				edges = append(edges, x)
			}
		}
		// Elements before after and behind before at a time are behind it, too.
		if p.before != nil {
			beyondBefore = slices.ContainsFunc(list, func(x *place) bool { return x.compare(p.before) >= 0 })
		}
		var want []*place
		var previous, next bool
		if p.first >= 0 {
			want, next, previous = edges[:min(len(edges), p.first)], len(edges) > p.first, beyondAfter
		} else {
			want, previous, next = edges[max(0, len(edges)-p.last):], len(edges) > p.last, beyondBefore
		}

		start, end, gotPrevious, gotNext := p.window(len(list), func(i int) *place { return list[i] })
		if got := list[start:end]; !slices.Equal(got, want) || gotPrevious != previous || gotNext != next {
			t.Fatalf("window(%d, %+v) = %d elements, previous %t, next %t, want %d, %t, %t",
				len(list), p, len(got), gotPrevious, gotNext, len(want), previous, next)
		}
	}
}

func randomPlace(rng *rand.Rand) *place {
	return &place{
		values: []index.KeyValue{{N: int64(rng.IntN(3)) - 1, Null: false}, {Null: rng.IntN(4) == 0}},
		key:    string(rune('a' + rng.IntN(3))),
	}
}
