package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/store"
)

func TestCheck(t *testing.T) {
	log := store.NewMemory()
	appended(t, log,
		put("a", `{"id":"a","org":"X","components":["db","db","DB"],"related":["c","gone"],"recurrence_of":"b"}`),
		put("b", `{"id":"b","recurrence_of":"a"}`),
		put("c", `{"id":"c","recurrence_of":"also-gone"}`),
		put("d", `{"id":"d","date":"2018-02-29"}`),
		put("e", `{"id":"f"}`),
		put("g", `{"id":"g","recurrence_of":"h"}`),
		put("h", `{"id":"h","recurrence_of":"g"}`),
	)
	got, err := Check(t.Context(), log, nil)
	want := CheckReport{
		Incidents: 7,
		Revision:  1,
		Dangling:  []Link{{"a", "gone", "related"}, {"c", "also-gone", "recurrence_of"}},
		Faults: []string{
			`store is corrupt: record "d": date: "2018-02-29" is not in the calendar`,
			`store is corrupt: record "e" has the id "f" inside`,
			"recurrence_of goes in a cycle: a -> b -> a",
			"recurrence_of goes in a cycle: g -> h -> g",
		},
	}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("Check = %v, differs (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	if got, want := got.Dangling[1].String(), "c recurrence_of also-gone"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// TestCheckerFindsDifferences shows the checker an index of other records.
func TestCheckerFindsDifferences(t *testing.T) {
	log := store.NewMemory()
	appended(t, log, put("a", `{"id":"a","org":"X","components":["db"],"title":"T","date":"2020","related":["q"]}`), put("b", `{"id":"b"}`))
	snap, err := log.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := store.NewMemory()
	appended(t, other, put("a", `{"id":"a","org":"Y","components":["net"],"title":"U","date":"2021"}`))
	s := viewOf(t, ingesterOf(t, other)).Index()

	c := newChecker(snap)
	if _, err := c.read(t.Context(), snap, nil); err != nil {
		t.Fatal(err)
	}
	c.compare(s)
	if err := c.compareRecords(t.Context(), snap, s); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"the index has 1 incidents, the store 2",
		"the index has 1 incidents (1 postings) with COMPONENT/net, the store 0",
		"the index has 1 incidents of org y, the store 0",
		"a: the index has another title than the record",
		"a: the index has another date than the record",
		"a: the index has another org than the record",
		"a: the index has another set of terms than the record",
		"a: the index has another set of dangling links than the record",
		"b is not in the index",
	}
	if diff := cmp.Diff(want, c.report.Faults); diff != "" {
		t.Errorf("faults differ (-want +got):\n%s", diff)
	}
}
