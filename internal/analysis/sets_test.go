package analysis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// sample is a random graph, a random part of it, and the same part as plain
// incidents for the slow computations.
type sample struct {
	snapshot *index.Snapshot
	set      index.Set
	plain    []*incident.Incident
}

// newSample draws a sample. Its snapshot has one before it in which a few
// incidents are others, are not there yet or are still there, and of which all
// has been computed that can be derived.
func newSample(r *rand.Rand, n int) sample {
	x := index.New(nil)
	list := fixture.Graph(r, n)
	others := fixture.Graph(r, n+2)
	older, newer := x.Batch(), []func(*index.Batch){}
	for i, inc := range list {
		before := inc
		if r.IntN(12) == 0 {
			newer = append(newer, func(b *index.Batch) { b.Put(inc, 2, 2) })
			if before = others[i]; r.IntN(4) == 0 {
				continue
			}
		}
		older.Put(before, 1, 1)
	}
	if r.IntN(2) == 0 {
		gone := others[n+r.IntN(2)]
		older.Put(gone, 1, 1)
		newer = append(newer, func(b *index.Batch) { b.Delete(gone.ID) })
	}
	computeAll(older.Commit(1))
	b := x.Batch()
	for _, change := range newer {
		change(b)
	}
	s := sample{snapshot: b.Commit(2)}
	var ords []index.Ord
	share := 1 + r.IntN(4)
	for _, inc := range list {
		if r.IntN(4) < share {
			ords = append(ords, s.snapshot.Lookup(inc.ID).Ord)
			s.plain = append(s.plain, inc)
		}
	}
	s.set = index.SetOf(ords...)
	return s
}

// computeAll asks for all that is computed once for a snapshot, and gives the
// answers over a set as text.
func computeAll(s *index.Snapshot) string { return computeOver(s, s.All()) }

func computeOver(s *index.Snapshot, set index.Set) string {
	ctx := context.Background()
	var b strings.Builder
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		f, err := Facets(ctx, s, set, v, -1)
		fmt.Fprint(&b, "facet ", v, f.Incidents, f.Assignments, f.Without, err, "\n")
		for _, x := range f.Values {
			fmt.Fprint(&b, s.Term(x.Term).Slug, x.Incidents, "\n")
		}
	}
	for k := range ByRegion + 1 {
		g, err := GroupBy(ctx, s, set, GroupQuery{By: []GroupKey{k}, First: 1000})
		fmt.Fprint(&b, "groups ", k, g.Total, err, "\n")
		for _, x := range g.List {
			key := "none"
			if x.Keys[0] != nil {
				key = *x.Keys[0]
			}
			fmt.Fprint(&b, key, x.Incidents, "\n")
		}
	}
	for _, interval := range []GroupKey{ByYear, ByQuarter, ByMonth} {
		points, err := Series(ctx, s, set, interval, nil)
		fmt.Fprint(&b, "series ", points, err, "\n")
	}
	for _, c := range []Clock{DetectedAfter, ResolvedAfter} {
		d, err := Durations(ctx, s, set, c)
		fmt.Fprint(&b, "durations ", d.Known, d.Unknown, d.Mean, d.Median, err, "\n")
	}
	return b.String()
}

// TestDerivedStatistics changes some of many incidents again and again, and
// compares what is derived with what an index made anew computes.
func TestDerivedStatistics(t *testing.T) {
	const n = 2500
	r := rand.New(rand.NewPCG(23, 24))
	list := fixture.Incidents(1, n)
	x := index.New(nil)
	there := make(map[string]*incident.Incident)
	b := x.Batch()
	for _, inc := range list[:n-300] {
		there[inc.ID] = inc
		b.Put(inc, 1, 1)
	}
	s := b.Commit(1)
	for round := range 20 {
		if round%3 > 0 { // else the next one is derived over two snapshots
			var ids []index.Ord
			for _, inc := range there {
				if r.IntN(3) == 0 {
					ids = append(ids, s.Lookup(inc.ID).Ord)
				}
			}
			fresh := index.New(nil).Batch()
			for _, inc := range there {
				fresh.Put(inc, 1, 1)
			}
			anew := fresh.Commit(1)
			same := make([]index.Ord, len(ids))
			for i, o := range ids {
				same[i] = anew.Lookup(s.CaseID(o)).Ord
			}
			if diff := cmp.Diff(computeOver(anew, index.SetOf(same...)), computeOver(s, index.SetOf(ids...))); diff != "" {
				t.Fatalf("round %d, a third (-anew +derived):\n%s", round, diff)
			}
			if diff := cmp.Diff(computeAll(anew), computeAll(s)); diff != "" {
				t.Fatalf("round %d, all (-anew +derived):\n%s", round, diff)
			}
		}
		b := x.Batch()
		for range 1 + r.IntN(1<<r.IntN(6)) {
			inc := *list[r.IntN(n)]
			if r.IntN(4) == 0 {
				b.Delete(inc.ID)
				delete(there, inc.ID)
				continue
			}
			other := *list[r.IntN(n)]
			other.ID, other.RecurrenceOf, other.Related = inc.ID, "", nil
			if r.IntN(10) == 0 { // of which nobody has heard
				other.Org, other.OrgSlug = "", fmt.Sprintf("new-%d", r.IntN(20))
				other.Contributing = []incident.Value{{Text: other.OrgSlug, Slug: other.OrgSlug}}
				other.ImpactRegion = other.OrgSlug
			}
			there[inc.ID] = &other
			b.Put(&other, 2, 2)
		}
		s = b.Commit(uint64(round + 2))
	}
}

// slugs gives the distinct slugs of one vocabulary.
func slugs(inc *incident.Incident, v incident.Vocabulary) []string {
	var out []string
	for _, x := range inc.Values(v) {
		if !slices.Contains(out, x.Slug) {
			out = append(out, x.Slug)
		}
	}
	return out
}

func TestFacetsAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 60 {
		s := newSample(r, 1+r.IntN(60))
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			top := r.IntN(6) - 1
			got, err := Facets(context.Background(), s.snapshot, s.set, v, top)
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string]int{}
			with, assignments := 0, 0
			for _, inc := range s.plain {
				list := slugs(inc, v)
				if len(list) > 0 {
					with++
				}
				assignments += len(list)
				for _, x := range list {
					counts[x]++
				}
			}
			var lines []string
			for slug, n := range counts {
				lines = append(lines, fmt.Sprintf("%06d %s", 999999-n, slug))
			}
			slices.Sort(lines)
			omitted := 0
			if top >= 0 && len(lines) > top {
				omitted = len(lines) - top
				lines = lines[:top]
			}
			var gotLines []string
			for _, f := range got.Values {
				gotLines = append(gotLines, fmt.Sprintf("%06d %s", 999999-f.Incidents, s.snapshot.Term(f.Term).Slug))
				if want := float64(f.Incidents) / float64(len(s.plain)); f.Share != want || f.Interval != Wilson(f.Incidents, len(s.plain)) {
					t.Fatalf("share = %v %v, want %v", f.Share, f.Interval, want)
				}
			}
			if diff := cmp.Diff(lines, gotLines, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("values (-want +got):\n%s", diff)
			}
			if got.Incidents != with || got.Assignments != assignments || got.Without != len(s.plain)-with || got.Omitted != omitted {
				t.Fatalf("Facets = %+v, want %d incidents, %d assignments, %d omitted", got, with, assignments, omitted)
			}
		}
	}
}

// keyOf computes the values of a group key from a plain incident, "" for none.
func keysOf(inc *incident.Incident, k GroupKey) []string {
	var out []string
	date := inc.Date.String()
	switch k {
	case ByOrg:
		out = []string{inc.OrgSlug}
	case ByRegion:
		out = []string{inc.ImpactRegion}
	case ByYear:
		out = []string{date[:min(4, len(date))]}
	case ByMonth:
		out = []string{""}
		if len(date) >= 7 {
			out[0] = date[:7]
		}
	case ByQuarter:
		out = []string{""}
		if len(date) >= 7 {
			quarter := map[string]string{"01": "1", "02": "1", "03": "1", "04": "2", "05": "2", "06": "2", "07": "3", "08": "3", "09": "3"}[date[5:7]]
			if quarter == "" {
				quarter = "4"
			}
			out[0] = date[:5] + "Q" + quarter
		}
	default:
		out = slugs(inc, incident.Vocabulary(k))
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

const lastGroupKey = ByRegion

func TestGroupsAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for range 300 {
		s := newSample(r, 1+r.IntN(50))
		q := GroupQuery{By: []GroupKey{GroupKey(r.IntN(int(lastGroupKey) + 1))}, MinCount: r.IntN(4), First: r.IntN(20)}
		if other := GroupKey(r.IntN(int(lastGroupKey) + 1)); r.IntN(2) == 0 && other != q.By[0] {
			q.By = append(q.By, other)
		}
		got, err := GroupBy(context.Background(), s.snapshot, s.set, q)
		if err != nil {
			t.Fatal(err)
		}
		members := map[string][]string{}
		for _, inc := range s.plain {
			second := []string{"-"}
			if len(q.By) == 2 {
				second = keysOf(inc, q.By[1])
			}
			for _, a := range keysOf(inc, q.By[0]) {
				for _, b := range second {
					key := a + "\x00" + b
					members[key] = append(members[key], inc.ID)
				}
			}
		}
		var want []string
		for key, ids := range members {
			if len(ids) >= max(q.MinCount, 1) {
				sortable := strings.ReplaceAll("\x00"+key, "\x00\x00", "\x00\uffff\x00")
				if strings.HasSuffix(sortable, "\x00") {
					sortable += "\uffff"
				}
				want = append(want, fmt.Sprintf("%06d%s", 999999-len(ids), sortable))
			}
		}
		slices.Sort(want)
		if got.Total != len(want) {
			t.Fatalf("GroupBy(%+v).Total = %d, want %d", q, got.Total, len(want))
		}
		want = want[:min(len(want), q.First)]
		for i, g := range got.List {
			line := fmt.Sprintf("%06d", 999999-g.Incidents)
			key := make([]string, 2)
			key[1] = "-"
			for j := range key {
				switch {
				case j >= len(g.Keys):
					line += "\x00-"
				case g.Keys[j] == nil:
					line += "\x00\uffff"
					key[j] = ""
				default:
					line += "\x00" + *g.Keys[j]
					key[j] = *g.Keys[j]
				}
			}
			if line != want[i] {
				t.Fatalf("GroupBy(%+v): group %d = %q, want %q", q, i, line, want[i])
			}
			set, err := got.Members(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for o := range set.All() {
				ids = append(ids, s.snapshot.CaseID(o))
			}
			slices.Sort(ids)
			wantIDs := members[strings.Join(key, "\x00")]
			slices.Sort(wantIDs)
			if diff := cmp.Diff(wantIDs, ids); diff != "" {
				t.Fatalf("members of %q (-want +got):\n%s", line, diff)
			}
		}
		if len(got.List) != len(want) {
			t.Fatalf("GroupBy(%+v) lists %d, want %d", q, len(got.List), len(want))
		}
	}
}

func TestSeriesAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for range 200 {
		s := newSample(r, 1+r.IntN(40))
		interval := []GroupKey{ByYear, ByQuarter, ByMonth}[r.IntN(3)]
		var by *GroupKey
		if k := GroupKey(r.IntN(int(lastGroupKey) + 1)); r.IntN(2) == 0 {
			by = &k
		}
		got, err := Series(context.Background(), s.snapshot, s.set, interval, by)
		if err != nil {
			t.Fatal(err)
		}
		// start of the interval, as text, of a precise date; the date itself otherwise
		start := func(d incident.Date) (text string, precise bool) {
			text = d.String()
			switch {
			case interval == ByYear:
				return text[:4], true
			case len(text) < 7:
				return text, false
			case interval == ByMonth:
				return text[:7], true
			}
			return text[:5] + map[int]string{0: "01", 1: "04", 2: "07", 3: "10"}[(d.Month()-1)/3], true
		}
		counts, keys, precise := map[string]int{}, map[string]bool{}, map[string]bool{}
		for _, inc := range s.plain {
			if inc.Date.IsZero() {
				continue
			}
			at, ok := start(inc.Date)
			if ok {
				precise[at] = true
			}
			list := []string{""}
			if by != nil {
				list = keysOf(inc, *by)
			}
			for _, k := range list {
				keys[k] = true
				counts[at+"|"+k]++
			}
		}
		// Fill the gaps by walking all months of the years that occur.
		first, last := "9999", ""
		for p := range precise {
			first, last = min(first, p), max(last, p)
		}
		years := func(p string) int {
			y, _ := strconv.Atoi(p[:min(4, len(p))])
			return y
		}
		for y := years(first); y <= years(last); y++ {
			for m := 1; m <= 12; m++ {
				at, _ := start(incident.Date(y)<<16 | incident.Date(m)<<8)
				if at >= first && at <= last {
					for k := range keys {
						counts[at+"|"+k] += 0
					}
				}
			}
		}
		var want, have []string
		for k, n := range counts {
			at, key, _ := strings.Cut(k, "|")
			if key == "" {
				key = "\uffff"
			}
			want = append(want, fmt.Sprintf("%s|%s=%d", at, key, n))
		}
		for _, p := range got {
			key := "\uffff"
			if p.Key != nil {
				key = *p.Key
			}
			have = append(have, fmt.Sprintf("%s|%s=%d", p.Start, key, p.Incidents))
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Start > got[i].Start {
				t.Fatalf("points are out of order: %v", have)
			}
		}
		slices.Sort(want)
		slices.Sort(have)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("Series by %v (-want +got):\n%s", interval, diff)
		}
	}
}

func TestSeriesIsBounded(t *testing.T) {
	x := index.New(nil)
	b := x.Batch()
	for i, y := range []int{1, 9999} {
		b.Put(&incident.Incident{ID: fixture.SmallID(i), Date: incident.Date(y)<<16 | 1<<8}, 1, 1)
	}
	s := b.Commit(1)
	_, err := Series(context.Background(), s, s.All(), ByMonth, nil)
	var tooMany *TooManyPointsError
	if !errors.As(err, &tooMany) || tooMany.Points != 9999*12-11 {
		t.Errorf("Series over 9998 years = %v, want a TooManyPointsError with %d points", err, 9999*12-11)
	}
}

func TestDurationsAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for range 100 {
		s := newSample(r, 1+r.IntN(60))
		for _, c := range []Clock{DetectedAfter, ResolvedAfter} {
			got, err := Durations(context.Background(), s.snapshot, s.set, c)
			if err != nil {
				t.Fatal(err)
			}
			var known []float64
			for _, inc := range s.plain {
				d := inc.ResolvedAfter
				if c == DetectedAfter {
					d = inc.DetectedAfter
				}
				if d.Known {
					known = append(known, d.Seconds)
				}
			}
			if got.Known != len(known) || got.Known+got.Unknown != len(s.plain) {
				t.Fatalf("Durations = %d known, %d unknown, want %d of %d", got.Known, got.Unknown, len(known), len(s.plain))
			}
			if len(known) > 0 && (got.Min != slices.Min(known) || got.Max != slices.Max(known)) {
				t.Fatalf("range = %v to %v, want that of %v", got.Min, got.Max, known)
			}
		}
	}
}

func TestAssociationsAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for range 200 {
		s := newSample(r, 2+r.IntN(60))
		q := AssociationQuery{
			Left: incident.Vocabulary(r.IntN(incident.VocabularyCount)), Right: incident.Vocabulary(r.IntN(incident.VocabularyCount)),
			MinSupport: r.IntN(4), First: -1,
		}
		if r.IntN(3) == 0 {
			if terms := s.snapshot.Terms(q.Left); len(terms) > 0 {
				q.Term = &terms[r.IntN(len(terms))]
			}
		}
		got, err := Associations(context.Background(), s.snapshot, s.set, q)
		if err != nil {
			t.Fatal(err)
		}
		type cell struct{ left, right string }
		both, left, right := map[cell]int{}, map[string]int{}, map[string]int{}
		for _, inc := range s.plain {
			a, b := slugs(inc, q.Left), slugs(inc, q.Right)
			for _, x := range a {
				left[x]++
			}
			for _, y := range b {
				right[y]++
			}
			for _, x := range a {
				for _, y := range b {
					switch {
					case q.Left == q.Right && x == y:
					case q.Term != nil && s.snapshot.Term(*q.Term).Slug != x:
					case q.Left == q.Right && q.Term == nil && x > y:
					default:
						both[cell{x, y}]++
					}
				}
			}
		}
		for c, n := range both {
			if n < max(q.MinSupport, 1) {
				delete(both, c)
			}
		}
		if len(got) != len(both) {
			t.Fatalf("Associations(%+v) gives %d, want %d", q, len(got), len(both))
		}
		n := float64(len(s.plain))
		for i, a := range got {
			c := cell{s.snapshot.Term(a.Left).Slug, s.snapshot.Term(a.Right).Slug}
			if a.Both != both[c] || a.LeftCount != left[c.left] || a.RightCount != right[c.right] || a.Total != len(s.plain) {
				t.Fatalf("%v = %+v, want %d, %d, %d", c, a, both[c], left[c.left], right[c.right])
			}
			pb, pl, pr := float64(a.Both)/n, float64(a.LeftCount)/n, float64(a.RightCount)/n
			npmi := 1.0
			if a.Both < len(s.plain) {
				npmi = math.Log(pb/(pl*pr)) / -math.Log(pb)
			}
			if !near(a.Support, pb, 1e-12) || !near(a.Confidence, pb/pl, 1e-12) || !near(a.Lift, pb/(pl*pr), 1e-12) || !near(a.NPMI, npmi, 1e-9) {
				t.Fatalf("%v = %+v, want support %v, lift %v, npmi %v", c, a, pb, pb/(pl*pr), npmi)
			}
			if want := fisherExact(a.Both, a.LeftCount, a.RightCount, a.Total); !near(a.P, want, 1e-9) {
				t.Fatalf("%v: p = %v, want %v", c, a.P, want)
			}
			if a.Q < a.P || a.Q > 1 {
				t.Fatalf("%v: q = %v with p = %v", c, a.Q, a.P)
			}
			if i > 0 && got[i-1].NPMI*float64(got[i-1].Both) < a.NPMI*float64(a.Both) {
				t.Fatalf("associations %d and %d are out of order", i-1, i)
			}
		}
	}
}

func TestStatisticsStopWithTheirContext(t *testing.T) {
	s := newSample(rand.New(rand.NewPCG(31, 32)), 30)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Facets(ctx, s.snapshot, s.set, incident.Component, -1); err == nil {
		t.Error("Facets goes on without its context")
	}
	if _, err := GroupBy(ctx, s.snapshot, s.set, GroupQuery{By: []GroupKey{ByYear}}); err == nil {
		t.Error("GroupBy goes on without its context")
	}
	if _, err := Associations(ctx, s.snapshot, s.set, AssociationQuery{}); err == nil {
		t.Error("Associations goes on without its context")
	}
}

func TestDetectTerms(t *testing.T) {
	concepts, err := incident.DecodeConcepts([]byte(`{"version":1,"terms":[
		{"scheme":"FACTOR","slug":"retry-storm","label":{"en":"Retry storm","ko":"재시도 폭풍"},"cues":{"en":["retr"],"ko":["재시도"]}},
		{"scheme":"FACTOR","slug":"no-capacity-planning","label":{"en":"No capacity planning"},"cues":{"en":["plan capacity"],"ko":["용량을 미리"]}},
		{"scheme":"COMPONENT","slug":"cache","label":{"en":"Cache","ko":"캐시"},"cues":{"en":[],"ko":[]}},
		{"scheme":"ROOT_CAUSE","slug":"other","label":{"en":"Other"},"cues":{}}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := index.New(concepts).Snapshot()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"The clients retried until the cache fell over.", []string{"retry-storm", "cache"}},
		{"Caches were cold; nothing else. Other things.", nil},
		{"재시도가 몰려 캐시까지 멈췄다", []string{"retry-storm", "cache"}},
		{"메타캐시의 용량을 미리 잡지 못했다", []string{"cache", "no-capacity-planning"}},
		{"We did not PLAN CAPACITY; retr", []string{"no-capacity-planning", "retry-storm"}},
		{"arretr", nil},
	} {
		var got []string
		for _, id := range DetectTerms(s, concepts, c.text) {
			got = append(got, s.Term(id).Slug)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("DetectTerms(%q) (-want +got):\n%s", c.text, diff)
		}
	}
}
