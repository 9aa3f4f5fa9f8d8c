package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

func TestSelectAgainstModel(t *testing.T) {
	matched := 0
	for seed := range uint64(40) {
		r := newRand(seed)
		m, s := small(r)
		for range 100 {
			f := randomFilter(r, m, s, 3)
			got, err := s.Select(f)
			if err != nil {
				t.Fatalf("seed %d: Select(%+v) = %v", seed, f, err)
			}
			want := m.selected(f)
			if d := cmp.Diff(want, idsOf(s, got)); d != "" {
				t.Fatalf("seed %d: Select(%+v) (-want +got):\n%s", seed, f, d)
			}
			if got.Len() > 0 && got.Len() < s.Len() {
				matched++
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d filters match some and not all incidents", matched)
	}
}

// TestDatesOfMany has intervals of all lengths over sets of all sizes, in a
// snapshot of more than one block of numbers and in one derived from it.
func TestDatesOfMany(t *testing.T) {
	for _, arranged := range []bool{false, true} {
		t.Run(fmt.Sprintf("arranged=%t", arranged), func(t *testing.T) { testDatesOfMany(t, arranged) })
	}
}

func testDatesOfMany(t *testing.T, arranged bool) {
	const n = 70_000
	tries := 60
	if testing.Short() {
		tries = 15
	}
	r := newRand(3)
	list := fixture.Incidents(4, n)
	x := index.New(nil)
	b := x.Batch()
	for _, inc := range list {
		b.Put(inc, 1, 1)
	}
	if arranged {
		b.Arrange()
	}
	s := b.Commit(1)
	for round := range 2 {
		for range tries {
			share := 1 << r.IntN(14)
			var set index.Set
			want := make(map[string]bool)
			f := &index.DateFilter{Gte: anyDate(r, list)}
			if r.IntN(3) > 0 {
				f.Lt = anyDate(r, list)
				if r.IntN(2) == 0 && f.Gte != 0 {
					f.Lt = incident.DateOf(f.Gte.FirstDay().AddDate(0, 0, 1+r.IntN(1000)))
				}
			}
			if share == 1 {
				set = s.All()
			}
			var ords []index.Ord
			for _, inc := range list {
				if share == 1 || r.IntN(share) == 0 {
					ords = append(ords, s.Lookup(inc.ID).Ord)
					if matchesDate(inc.Date, f) {
						want[inc.ID] = true
					}
				}
			}
			if share > 1 {
				set = index.SetOf(ords...)
			}
			got, err := s.Select(&index.Filter{Date: f, Within: &set})
			if err != nil {
				continue // an empty interval
			}
			if got.Len() != len(want) {
				t.Fatalf("round %d: Select(%v of %d) has %d incidents, want %d", round, *f, set.Len(), got.Len(), len(want))
			}
			for o := range got.All() {
				if !want[s.CaseID(o)] {
					t.Fatalf("round %d: Select(%v of %d) has %s of %v", round, *f, set.Len(), s.CaseID(o), s.Node(o).Date)
				}
			}
		}
		b := x.Batch()
		for i := range 3000 {
			inc := *list[i*7]
			inc.Date = anyDate(r, list)
			list[i*7] = &inc
			b.Put(&inc, 2, 2)
		}
		s = b.Commit(2)
	}
}

func anyDate(r *rand.Rand, list []*incident.Incident) incident.Date {
	return list[r.IntN(len(list))].Date
}

// randomFilter makes a valid filter with few members, nested up to depth.
func randomFilter(r *rand.Rand, m *model, s *index.Snapshot, depth int) *index.Filter {
	f := new(index.Filter)
	for range 1 + r.IntN(3) {
		switch k := r.IntN(16); {
		case k < 3 && depth > 0:
			nest(r, m, s, f, depth-1)
		case k < 6:
			v := incident.Vocabulary(r.IntN(incident.VocabularyCount))
			f.Terms[v] = randomTermFilter(r, s, v)
		case k == 6:
			f.CaseID = randomStringFilter(r, m.ids())
		case k == 7:
			f.Org = randomStringFilter(r, []string{"org-0", "org-1", "org-2", "org-99"})
		case k == 8:
			f.Region = randomStringFilter(r, []string{"US-East", "US-West", "eu-west-1", "US"})
		case k == 9:
			f.Date = randomDateFilter(r, 2015, 12)
		case k == 10:
			f.UpdatedAt = randomDateFilter(r, 2026, 1)
		case k == 11:
			f.DetectedAfter = randomDurationFilter(r)
		case k == 12:
			f.ResolvedAfter = randomDurationFilter(r)
		case k == 13:
			f.Reviewed = ptr(r.IntN(2) == 0)
		case k == 14:
			f.SharesTermsWith = &index.SharesTermsFilter{
				CaseID: m.ids()[r.IntN(len(m.by))], Vocabulary: incident.Vocabulary(r.IntN(incident.VocabularyCount)), AtLeast: 1 + r.IntN(3),
			}
		default:
			f.Links = append(f.Links, randomLinkFilter(r, m, s, depth-1))
		}
	}
	return f
}

func nest(r *rand.Rand, m *model, s *index.Snapshot, f *index.Filter, depth int) {
	var list []index.Filter
	for range r.IntN(4) {
		list = append(list, *randomFilter(r, m, s, depth))
	}
	switch r.IntN(3) {
	case 0:
		f.And = list
	case 1:
		f.Or = append([]index.Filter{}, list...) // never nil
	default:
		f.Not = randomFilter(r, m, s, depth)
	}
}

func randomTermFilter(r *rand.Rand, s *index.Snapshot, v incident.Vocabulary) *index.TermFilter {
	f := new(index.TermFilter)
	some := func(most int) []string {
		list := []string{}
		for range r.IntN(most + 1) {
			if ids := s.Terms(v); len(ids) > 0 {
				list = append(list, s.Term(ids[r.IntN(len(ids))]).Slug)
			}
		}
		return list
	}
	switch r.IntN(5) {
	case 0:
		f.Any = some(3)
	case 1:
		f.All = some(2)
	case 2:
		f.None = some(2)
	case 3:
		f.MinCount = ptr(r.IntN(5))
	default:
		f.MaxCount = ptr(r.IntN(5))
		f.None = some(1)
	}
	return f
}

func randomStringFilter(r *rand.Rand, from []string) *index.StringFilter {
	pick := func() string { return from[r.IntN(len(from))] }
	f := new(index.StringFilter)
	switch r.IntN(6) {
	case 0:
		f.Eq = ptr(pick())
	case 1:
		f.In = []string{}
		for range r.IntN(4) {
			f.In = append(f.In, pick())
		}
	case 2:
		s := pick()
		f.StartsWith = ptr(s[:r.IntN(len(s)+1)])
	case 3:
		f.StartsWith = ptr(pick()[:1])
		f.In = []string{pick(), pick(), pick()}
	case 4:
		f.Eq = ptr("")
	default:
		f.IsNull = ptr(r.IntN(2) == 0)
	}
	return f
}

func randomDateFilter(r *rand.Rand, year, months int) *index.DateFilter {
	for {
		f := new(index.DateFilter)
		if r.IntN(3) > 0 {
			f.Gte = randomDate(r, year, months)
		}
		if r.IntN(3) > 0 {
			f.Lt = randomDate(r, year, months)
		}
		if f.Gte == 0 || f.Lt == 0 || f.Gte.FirstDay().Before(f.Lt.FirstDay()) {
			return f
		}
	}
}

func randomDate(r *rand.Rand, year, months int) incident.Date {
	d := incident.Date(year+r.IntN(3)-1)<<16 | incident.Date(1+r.IntN(months))<<8 | incident.Date(1+r.IntN(5))
	switch r.IntN(3) {
	case 0:
		d &^= 0xffff
	case 1:
		d &^= 0xff
	}
	return d
}

func randomDurationFilter(r *rand.Rand) *index.DurationFilter {
	f := new(index.DurationFilter)
	low := float64(r.IntN(5)-1) * 3600
	if r.IntN(2) == 0 {
		f.GteSeconds = &low
	}
	if r.IntN(2) == 0 {
		f.LtSeconds = ptr(low + float64(1+r.IntN(3))*3600)
	}
	if r.IntN(2) == 0 {
		f.IsKnown = ptr(r.IntN(2) == 0)
	}
	return f
}

func randomLinkFilter(r *rand.Rand, m *model, s *index.Snapshot, depth int) index.LinkFilter {
	f := index.LinkFilter{Kind: index.LinkKind(r.IntN(2))}
	if r.IntN(2) == 0 {
		f.Direction = ptr(index.Direction(r.IntN(3 - int(f.Kind))))
	}
	if r.IntN(3) == 0 {
		f.MinCount = ptr(r.IntN(4))
	}
	if r.IntN(4) == 0 {
		f.MaxCount = ptr(4 + r.IntN(2))
	}
	if depth > 0 && r.IntN(2) == 0 {
		f.Some = randomFilter(r, m, s, depth)
	}
	if depth > 0 && r.IntN(3) == 0 {
		f.None = randomFilter(r, m, s, depth)
	}
	return f
}

func TestSelectWithin(t *testing.T) {
	m, s := small(newRand(1))
	id := m.ids()[0]
	within := index.SetOf(s.Lookup(id).Ord)
	for _, tt := range []struct {
		filter index.Filter
		want   []string
	}{
		{index.Filter{Within: &within}, []string{id}},
		{index.Filter{Not: &index.Filter{Within: &within}}, m.ids()[1:]},
		{index.Filter{Within: new(index.Set)}, []string{}},
	} {
		got, err := s.Select(&tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, idsOf(s, got)); d != "" {
			t.Errorf("Select(%+v) (-want +got):\n%s", tt.filter, d)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	b := index.New(nil).Batch()
	for _, inc := range fixture.Incidents(1, 500) {
		b.Put(inc, 1, 1)
	}
	s := b.Commit(1)
	factors := func(f index.TermFilter) index.Filter {
		var r index.Filter
		r.Terms[incident.ContributingFactor] = &f
		return r
	}
	deep := new(index.Filter)
	for range 16 {
		deep = &index.Filter{Not: deep}
	}
	unknown := func(slug string, closest []string, path ...any) error {
		return &index.UnknownTermError{Path: path, Term: incident.Term{Slug: slug}, Close: closest}
	}
	wrong := func(reason string, path ...any) error { return &index.FilterError{Path: path, Reason: reason} }
	for _, tt := range []struct {
		name   string
		filter index.Filter
		want   error
	}{
		{"any", factors(index.TermFilter{Any: []string{"slow-retry", "missing-retri"}}),
			unknown("missing-retri", []string{"missing-retry", "missing-alert"}, "contributingFactors", "any", 1)},
		{"swapped letters", factors(index.TermFilter{All: []string{"imssing-retry"}}),
			unknown("imssing-retry", []string{"missing-retry"}, "contributingFactors", "all", 0)},
		{"nothing near", factors(index.TermFilter{None: []string{"qqqqqqqqqq"}}),
			unknown("qqqqqqqqqq", []string{}, "contributingFactors", "none", 0)},
		{"nested", index.Filter{And: []index.Filter{{}, {Or: []index.Filter{{Not: ptr(factors(index.TermFilter{Any: []string{"qqq"}}))}}}}},
			unknown("qqq", []string{}, "and", 1, "or", 0, "not", "contributingFactors", "any", 0)},
		{"in links", index.Filter{Links: []index.LinkFilter{{}, {Some: ptr(factors(index.TermFilter{Any: []string{"qqq"}}))}}},
			unknown("qqq", []string{}, "links", 1, "some", "contributingFactors", "any", 0)},
		{"unknown term in what matches nothing", index.Filter{Or: []index.Filter{}, Not: ptr(factors(index.TermFilter{Any: []string{"qqq"}}))},
			unknown("qqq", []string{}, "not", "contributingFactors", "any", 0)},
		{"unknown case", index.Filter{SharesTermsWith: &index.SharesTermsFilter{CaseID: "nowhere", AtLeast: 1}},
			&index.UnknownCaseError{Path: []any{"sharesTermsWith", "caseId"}, CaseID: "nowhere"}},
		{"atLeast 0", index.Filter{SharesTermsWith: &index.SharesTermsFilter{CaseID: fixture.CaseID(1)}},
			wrong("must be at least 1", "sharesTermsWith", "atLeast")},
		{"negative count", factors(index.TermFilter{MinCount: ptr(-1)}),
			wrong("must not be negative", "contributingFactors", "minCount")},
		{"negative maximum", index.Filter{Links: []index.LinkFilter{{MaxCount: ptr(-1)}}},
			wrong("must not be negative", "links", 0, "maxCount")},
		{"counts crossed", factors(index.TermFilter{MinCount: ptr(2), MaxCount: ptr(1)}),
			wrong("minCount must not be above maxCount", "contributingFactors")},
		{"mutual recurrence", index.Filter{Links: []index.LinkFilter{{Kind: index.RecurrenceLink, Direction: ptr(index.Mutual)}}},
			wrong("a recurrence is never mutual", "links", 0, "direction")},
		{"empty dates", index.Filter{Date: &index.DateFilter{Gte: date(2015, 1, 1), Lt: date(2015, 0, 0)}},
			wrong("gte must be before lt", "date")},
		{"empty durations", index.Filter{ResolvedAfter: &index.DurationFilter{GteSeconds: ptr(1.0), LtSeconds: ptr(1.0)}},
			wrong("gteSeconds must be below ltSeconds", "resolvedAfter")},
		{"no number", index.Filter{DetectedAfter: &index.DurationFilter{LtSeconds: ptr(math.NaN())}},
			wrong("must be a number", "detectedAfter")},
		{"too deep", *deep, wrong("filters are nested over 16 deep",
			"not", "not", "not", "not", "not", "not", "not", "not", "not", "not", "not", "not", "not", "not", "not", "not")},
		{"deep enough", *deep.Not, nil},
	} {
		_, err := s.Select(&tt.filter)
		if d := cmp.Diff(tt.want, err); d != "" {
			t.Errorf("%s: Select(%+v) error (-want +got):\n%s", tt.name, tt.filter, d)
		}
	}
}

func date(y, m, d int) incident.Date { return incident.Date(y<<16 | m<<8 | d) }

func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&index.UnknownTermError{Term: incident.Term{Vocabulary: incident.Component, Slug: "databse"}, Close: []string{"database"}},
			"unknown term COMPONENT/databse; near in spelling: database"},
		{&index.UnknownTermError{Term: incident.Term{Slug: "x"}}, "unknown term CONTRIBUTING_FACTOR/x"},
		{&index.UnknownCaseError{CaseID: "IL-1"}, `unknown case "IL-1"`},
		{&index.UnknownCaseError{CaseID: strings.Repeat("ö", 100)}, `unknown case "` + strings.Repeat("ö", 60) + `"`},
		{&index.UnknownTermError{Term: incident.Term{Slug: strings.Repeat("ö", 100)}}, "unknown term CONTRIBUTING_FACTOR/" + strings.Repeat("ö", 60)},
		{&index.FilterError{Reason: "gte must be before lt"}, "gte must be before lt"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("Error() = %q, want %q", got, tt.want)
		}
	}
}
