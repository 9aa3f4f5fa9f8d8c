package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/store"
)

// modelRecord is a record of the model that imports are compared with.
type modelRecord struct {
	id, of string
	n      int
	lines  []int // of the input; none if it is stored
	result outcome
}

func (m modelRecord) String() string {
	b, err := json.Marshal(map[string]any{"id": m.id, "recurrence_of": m.of, "n": m.n})
	if m.of == "" {
		b, err = json.Marshal(map[string]any{"id": m.id, "n": m.n})
	}
	if err != nil {
		panic(err)
	}
	return string(b)
}

// model is what a store should hold after some imports.
type model map[string]modelRecord

// run takes records in, line by line, and gives the rejects, sorted, and the
// report.
func (m model) run(records []modelRecord) ([]string, Report) {
	report := Report{Read: len(records)}
	versions := make(map[string][]modelRecord) // the stored one first
	for id, stored := range m {
		versions[id] = []modelRecord{stored}
	}
	for i, rec := range records {
		list := versions[rec.id]
		if k := len(list) - 1; k >= 0 && list[k].of == rec.of && list[k].n == rec.n {
			if report.Unchanged++; list[k].lines != nil {
				list[k].lines = append(list[k].lines, i+1)
			}
			continue
		}
		if rec.lines, rec.result = []int{i + 1}, updated; len(list) == 0 {
			rec.result = created
		}
		report.count(rec.result, 1)
		versions[rec.id] = append(list, rec)
	}
	var rejects []string
	for cycle := m.cycle(versions); cycle != nil; cycle = m.cycle(versions) {
		id := slices.MaxFunc(cycle, func(a, b string) int { return firstLine(versions[a]) - firstLine(versions[b]) })
		last := versions[id][len(versions[id])-1]
		report.count(last.result, -1)
		report.Unchanged -= len(last.lines) - 1
		report.Rejected += len(last.lines)
		for _, line := range last.lines {
			rejects = append(rejects, fmt.Sprintf("f1:%d %s cycle %s", line, id, strings.Join(cycle, " ")))
		}
		versions[id] = versions[id][:len(versions[id])-1]
	}
	for id, list := range versions {
		if len(list) > 0 {
			m[id] = modelRecord{id: id, of: list[len(list)-1].of, n: list[len(list)-1].n}
		}
	}
	slices.Sort(rejects)
	return rejects, report
}

// firstLine gives the line of the newest version, 0 for a stored one.
func firstLine(versions []modelRecord) int {
	if lines := versions[len(versions)-1].lines; lines != nil {
		return lines[0]
	}
	return 0
}

// cycle walks from each id until it is back there, and gives the way from the
// smallest id that is.
func (m model) cycle(versions map[string][]modelRecord) []string {
	of := make(map[string]string)
	for id, list := range versions {
		if len(list) > 0 {
			of[id] = list[len(list)-1].of
		}
	}
	return anyCycle(of)
}

// anyCycle gives the ids around a cycle of pointers, nil if there is none.
func anyCycle(of map[string]string) []string {
	for _, id := range slices.Sorted(maps.Keys(of)) {
		way := []string{id}
		for x := of[id]; x != "" && len(way) <= len(of); x = of[x] {
			if x == id {
				return way
			}
			way = append(way, x)
		}
	}
	return nil
}

// TestImportCyclesRandom compares with the model, and looks for cycles between
// any two operations, so wherever changes might be cut.
func TestImportCyclesRandom(t *testing.T) {
	rejected, turned, stepped := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		log := store.NewMemory()
		in := ingesterOf(t, log)
		m := make(model)
		for range 4 { // runs over what those before stored
			records := make([]modelRecord, 1+r.IntN(30))
			var lines strings.Builder
			for i := range records {
				rec := modelRecord{id: fmt.Sprintf("i%d", r.IntN(14)), n: r.IntN(2)}
				if of := fmt.Sprintf("i%d", r.IntN(14)); of != rec.id && r.IntN(4) > 0 {
					rec.of = of
				}
				if records[i] = rec; i > 0 && r.IntN(5) == 0 {
					records[i] = records[r.IntN(i)]
				}
				fmt.Fprintln(&lines, records[i])
			}
			want, report := m.run(records)
			got, bad := imported(t, in, Options{OnError: Skip}, text(lines.String())...)
			slices.Sort(bad)
			if diff := cmp.Diff(want, bad, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" || got != report {
				t.Fatalf("seed %d: Import(%s) = %+v, want %+v; rejects differ (-want +got):\n%s", seed, &lines, got, report, diff)
			}
			rejected += len(bad)
		}
		var all strings.Builder
		for _, id := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintln(&all, m[id])
		}
		if got := exported(t, log); !sameRecords(t, got, all.String()) {
			t.Errorf("seed %d: Export = %s, want %s", seed, got, &all)
		}
		a, b := checkSteps(t, log)
		turned, stepped = turned+a, stepped+b
	}
	if rejected < 100 || turned < 100 || stepped < 1000 {
		t.Errorf("%d rejects, %d pointers turned in %d steps, want many of each", rejected, turned, stepped)
	}
}

// sameRecords compares JSON Lines without regard to the order of members.
func sameRecords(t *testing.T, a, b string) bool {
	t.Helper()
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	return slices.EqualFunc(as, bs, func(a, b string) bool { return a == b || incident.Equal([]byte(a), []byte(b)) })
}

// checkSteps applies the changes of a log operation by operation and looks
// for a cycle after each. It gives how many pointers were turned, and how many
// steps there were.
func checkSteps(t *testing.T, log store.Log) (turned, steps int) {
	t.Helper()
	of := make(map[string]string)
	for e, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range e.Change.Ops {
			inc, err := incident.Decode(op.Record)
			if err != nil {
				t.Fatal(err)
			}
			if steps++; of[op.ID] != "" && of[op.ID] != inc.RecurrenceOf {
				turned++
			}
			of[op.ID] = inc.RecurrenceOf
			if cycle := anyCycle(of); cycle != nil {
				t.Fatalf("change %d, after %s: there is a cycle of %v", e.Position.Sequence, op.ID, cycle)
			}
		}
	}
	return turned, steps
}

// TestImportTurnsLongChain stores a chain, in the order of ids, and turns it
// round, both over several batches.
func TestImportTurnsLongChain(t *testing.T) {
	const n = 3 * maxBatchRecords
	var there, back strings.Builder
	for i := range n {
		fmt.Fprintf(&there, "{\"id\":\"c%d\",\"recurrence_of\":\"c%d\"}\n", i, i+1)
		fmt.Fprintf(&back, "{\"id\":\"c%d\",\"recurrence_of\":\"c%d\"}\n", i+1, i)
	}
	log := store.NewMemory()
	in := ingesterOf(t, log)
	imported(t, in, Options{}, text(there.String())...)
	if got, _ := imported(t, in, Options{}, text(back.String()+`{"id":"c0"}`)...); got.Updated != n || got.Created != 1 {
		t.Errorf("Import = %+v, want %d updated and 1 created", got, n)
	}
	of := make(map[string]string)
	changes, last := 0, ""
	for e, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		changes++
		for _, op := range e.Change.Ops {
			inc, err := incident.Decode(op.Record)
			if err != nil {
				t.Fatal(err)
			}
			if len(of) < n && op.ID < last {
				t.Fatalf("%s is stored after %s, want the order of ids", op.ID, last)
			}
			of[op.ID], last = inc.RecurrenceOf, op.ID
		}
		if !endsEverywhere(of) {
			t.Errorf("after change %d there is a cycle", e.Position.Sequence)
		}
	}
	if changes < 6 {
		t.Errorf("%d changes, want several batches", changes)
	}
}

// endsEverywhere tells whether taking away ids that no other points to leaves
// nothing (Kahn 1962).
func endsEverywhere(of map[string]string) bool {
	pointers := make(map[string]int)
	for _, x := range of {
		pointers[x]++
	}
	gone := 0
	for id := range of {
		for x, ok := id, true; ok && pointers[x] == 0; {
			gone++
			pointers[x]--
			x = of[x]
			pointers[x]--
			_, ok = of[x]
		}
	}
	return gone == len(of)
}

// TestImportStoredCycle imports over a cycle that got in some other way.
func TestImportStoredCycle(t *testing.T) {
	log := store.NewMemory()
	appended(t, log, put("x", `{"id":"x","recurrence_of":"y"}`), put("y", `{"id":"y","recurrence_of":"x"}`), put("z", `{"id":"z","recurrence_of":"a"}`))
	in := ingesterOf(t, log)
	// The last one changes a stored pointer, so depths are asked for.
	lines := `{"id":"a","recurrence_of":"x"}` + "\n" + `{"id":"b","recurrence_of":"a"}` + "\n" + `{"id":"z","recurrence_of":"b"}`
	if got, bad := imported(t, in, Options{}, text(lines)...); bad != nil || got.Created != 2 || got.Updated != 1 {
		t.Errorf("Import = %+v, %q, want nothing rejected", got, bad)
	}
	if got, bad := imported(t, in, Options{}, text(`{"id":"x"}`)...); bad != nil || got.Updated != 1 {
		t.Errorf("Import of what breaks the cycle = %+v, %q, want 1 updated", got, bad)
	}
}

// TestImportRejectsCyclesLast checks when cycles are reported and with what.
func TestImportRejectsCyclesLast(t *testing.T) {
	lines := `{"id":"a","recurrence_of":"b"}
{ "recurrence_of": "a", "id": "b", "n": 1.50 }
nonsense
{"id":"c"}
`
	for _, mode := range []OnError{Stop, Skip} {
		var got []string
		o := Options{OnError: mode, OnReject: func(r Reject) { got = append(got, rejectString(r)+" "+string(r.Raw)) }}
		report, err := ingesterOf(t, store.NewMemory()).Import(t.Context(), text(lines), o)
		if want := (Report{Read: 4, Created: 2, Rejected: 2}); err != nil || report != want {
			t.Errorf("Import = %+v, %v, want %+v", report, err, want)
		}
		want := []string{"f1:3   NOT_JSON nonsense", `f1:2 b cycle a b {"recurrence_of":"a","id":"b","n":1.50}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rejects differ (-want +got):\n%s", diff)
		}
	}
}

// TestImportCorrectedExport turns a recurrence in what was exported.
func TestImportCorrectedExport(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		imported(t, in, Options{}, text(`[{"id":"A"},{"id":"B","recurrence_of":"A"}]`)...)
		corrected := strings.NewReplacer(`"A"}`+"\n{", `"A","recurrence_of":"B"}`+"\n{", `,"recurrence_of":"A"`, "").Replace(exported(t, log))
		want := `{"id":"A","recurrence_of":"B"}` + "\n" + `{"id":"B"}` + "\n"
		if corrected != want {
			t.Fatalf("corrected = %s, want %s", corrected, want)
		}
		if got, bad := imported(t, in, Options{}, text(corrected)...); got.Updated != 2 {
			t.Errorf("Import = %+v, %q, want 2 updated", got, bad)
		}
		if got := exported(t, log); got != want {
			t.Errorf("Export = %s, want %s", got, want)
		}
	})
}

// TestImportConflictVersions lets another writer close a cycle with the last
// version of an id, and with a repeat of it.
func TestImportConflictVersions(t *testing.T) {
	log := store.NewMemory()
	w := &wrapped{Log: log}
	conflicts := 0
	w.append = func(ctx context.Context, base store.Position, c store.Change) (store.Position, error) {
		if conflicts++; conflicts == 1 {
			appended(t, log, put("x", `{"id":"x","recurrence_of":"c"}`))
		}
		return log.Append(ctx, base, c)
	}
	const n = maxBatchRecords + 10
	var lines strings.Builder
	lines.WriteString(`{"id":"c"}` + "\n" + `{"id":"c","recurrence_of":"x"}` + "\n" + `{"recurrence_of":"x","id":"c"}` + "\n" + `{"id":"d"}` + "\n")
	for i := range n {
		fmt.Fprintf(&lines, "{\"id\":\"m%d\"}\n", i)
	}
	var last Progress
	o := Options{OnError: Skip, OnProgress: func(p Progress) { last = p }}
	got, bad := imported(t, ingesterOf(t, w), o, text(lines.String())...)
	if want := (Report{Read: n + 4, Created: n + 2, Rejected: 2}); got != want || last.Report != want {
		t.Errorf("Import = %+v, progress %+v, want %+v", got, last.Report, want)
	}
	if last.Stored != n+2 || last.ToStore != n+2 {
		t.Errorf("stored %d of %d, want %d", last.Stored, last.ToStore, n+2)
	}
	if want := []string{"f1:2 c cycle c x", "f1:3 c cycle c x"}; !slices.Equal(bad, want) {
		t.Errorf("rejects = %q, want %q", bad, want)
	}
	if got := exported(t, log); !strings.HasPrefix(got, "{\"id\":\"c\"}\n{\"id\":\"d\"}\n") {
		t.Errorf("Export = %.60s, want the first version of c", got)
	}
}
