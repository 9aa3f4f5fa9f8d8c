package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/store"
)

func TestImportCounts(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		for _, tt := range []struct {
			in   string
			want Report
		}{
			{"{\"id\":\"a\"}\n{\"id\":\"b\",\"org\":\"X\"}\n", Report{Read: 2, Created: 2}},
			{"{\"id\":\"a\"}\n{ \"org\" : \"\\u0058\", \"id\":\"b\" }\n", Report{Read: 2, Unchanged: 2}},
			{`[{"id":"a","n":1},{"id":"c"},{"id":"b","org":"X"}]`, Report{Read: 3, Created: 1, Updated: 1, Unchanged: 1}},
			{`{"id":"a","n":1.0}`, Report{Read: 1, Updated: 1}},
			{"", Report{}},
			// Later records with an id of the same run replace earlier ones.
			{`[{"id":"d"},{"id":"d","n":2},{"n":2,"id":"d"},{"id":"d"}]`, Report{Read: 4, Created: 1, Updated: 2, Unchanged: 1}},
			{`{"id":"d"}`, Report{Read: 1, Unchanged: 1}},
		} {
			got, _ := imported(t, in, Options{}, text(tt.in)...)
			if got != tt.want {
				t.Errorf("Import(%s) = %+v, want %+v", tt.in, got, tt.want)
			}
		}
		want := `{"id":"a","n":1.0}` + "\n" + `{"id":"b","org":"X"}` + "\n" + `{"id":"c"}` + "\n" + `{"id":"d"}` + "\n"
		if got := exported(t, log); got != want {
			t.Errorf("Export = %s, want %s", got, want)
		}
	})
}

func TestImportChange(t *testing.T) {
	log := store.NewMemory()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	imported(t, ingesterOf(t, log), Options{Actor: "me", Now: func() time.Time { return at }}, text(`{"id":"a"}`)...)
	for e, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil || e.Change.Actor != "me" || !e.Change.Time.Equal(at) || e.Change.RequestID == "" {
			t.Errorf("Follow = %+v, %v, want actor and time of the import", e.Change, err)
		}
	}
}

const goodAndBad = `{"id":"a"}
{"id":"b","timeline":{"resolved_after":5}}

{"id":"c"}
not JSON
{"id":"d","related":["d"]}
{"id":"c","n":1}
`

func TestImportStop(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		imported(t, in, Options{}, text(`{"id":"c"}`)...)
		before := exported(t, log)
		got, bad := imported(t, in, Options{}, text(`{"id":"z"}`, goodAndBad)...)
		if want := (Report{Read: 7, Created: 2, Updated: 1, Unchanged: 1, Rejected: 3}); got != want {
			t.Errorf("Import = %+v, want %+v", got, want)
		}
		want := []string{
			"f2:2 b timeline.resolved_after WRONG_TYPE",
			"f2:5   NOT_JSON",
			"f2:6 d related[0] SELF_LINK",
		}
		if diff := cmp.Diff(want, bad); diff != "" {
			t.Errorf("rejects differ (-want +got):\n%s", diff)
		}
		if after := exported(t, log); after != before {
			t.Errorf("Export = %s, want %s", after, before)
		}
		if head, err := log.Head(t.Context()); err != nil || head.Sequence != 1 {
			t.Errorf("Head = %v, %v, want sequence 1", head, err)
		}
	})
}

func TestImportSkip(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		var raw []string
		o := Options{OnError: Skip, OnReject: func(r Reject) { raw = append(raw, string(r.Raw)) }}
		report, err := in.Import(t.Context(), text(goodAndBad), o)
		if want := (Report{Read: 6, Created: 2, Updated: 1, Rejected: 3}); err != nil || report != want {
			t.Errorf("Import = %+v, %v, want %+v", report, err, want)
		}
		if want := []string{`{"id":"b","timeline":{"resolved_after":5}}`, "not JSON", `{"id":"d","related":["d"]}`}; !slices.Equal(raw, want) {
			t.Errorf("rejected = %q, want %q", raw, want)
		}
		if got, want := exported(t, log), "{\"id\":\"a\"}\n{\"id\":\"c\",\"n\":1}\n"; got != want {
			t.Errorf("Export = %s, want %s", got, want)
		}
	})
}

func TestImportDryRun(t *testing.T) {
	log := store.NewMemory()
	got, bad := imported(t, ingesterOf(t, log), Options{DryRun: true, OnError: Skip}, text(goodAndBad)...)
	if want := (Report{Read: 6, Created: 2, Updated: 1, Rejected: 3}); got != want || len(bad) != 3 {
		t.Errorf("Import = %+v, %q, want %+v", got, bad, want)
	}
	if got := exported(t, log); got != "" {
		t.Errorf("Export = %s, want nothing", got)
	}
}

// TestImportBrokenSource checks that a syntax error in a list ends that list
// only, wherever the chunks of parallel work end.
func TestImportBrokenSource(t *testing.T) {
	var list strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&list, "{\"id\":\"a%d\"},\n", i)
	}
	broken := "[" + list.String() + "{\"id\":\"b\",},\n" + strings.ReplaceAll(list.String(), "a", "c") + "{}]"
	log := store.NewMemory()
	got, bad := imported(t, ingesterOf(t, log), Options{OnError: Skip}, text(broken, `{"id":"d"}`)...)
	if want := (Report{Read: 1002, Created: 1001, Rejected: 1}); got != want {
		t.Errorf("Import = %+v, want %+v", got, want)
	}
	if want := []string{"f1:1001 b  NOT_JSON"}; !slices.Equal(bad, want) {
		t.Errorf("rejects = %q, want %q", bad, want)
	}
	if strings.Contains(exported(t, log), `"c`) {
		t.Error("records after the syntax error were stored")
	}
}

func TestImportDamaged(t *testing.T) {
	damaged := gzipped(t, strings.Repeat("{\"id\":\"a\"}\n", 3))
	damaged = damaged[:len(damaged)-3]
	sources := []Source{
		{Name: "damaged", Reader: bytes.NewReader(damaged)},
		{Name: "text", Reader: strings.NewReader("\nhello")},
		{Name: "good", Reader: bytes.NewReader(zstdOf(t, `{"id":"b"}`))},
	}
	got, bad := imported(t, ingesterOf(t, store.NewMemory()), Options{OnError: Skip}, sources...)
	if want := []string{"damaged:4   NOT_JSON", "text:2   NOT_JSON"}; !slices.Equal(bad, want) || got.Created != 2 {
		t.Errorf("Import = %+v, rejects %q, want %q", got, bad, want)
	}
}

func TestImportReadError(t *testing.T) {
	log := store.NewMemory()
	sources := append(text(`{"id":"a"}`), Source{Name: "gone", Reader: &lazyFile{path: filepath.Join(t.TempDir(), "gone")}})
	report, err := ingesterOf(t, log).Import(t.Context(), sources, Options{OnError: Skip})
	if !errors.Is(err, os.ErrNotExist) || report != (Report{Read: 1}) {
		t.Errorf("Import = %+v, %v, want a missing file and nothing stored", report, err)
	}
	if got := exported(t, log); got != "" {
		t.Errorf("Export = %s, want nothing", got)
	}
}

func TestImportCycles(t *testing.T) {
	link := func(id, of string) string { return fmt.Sprintf("{\"id\":%q,\"recurrence_of\":%q}\n", id, of) }
	for _, tt := range []struct {
		name   string
		stored string
		files  []string
		want   []string
	}{
		{"in one file", "", []string{link("a", "b") + link("b", "c") + link("c", "a")}, []string{"f1:3 c cycle a b c"}},
		{"across files", "", []string{link("b", "a"), link("a", "b")}, []string{"f2:1 a cycle a b"}},
		{"with stored records", link("a", "b") + link("b", "c"), []string{link("c", "a")}, []string{"f1:1 c cycle a b c"}},
		{"stored record turned", link("a", "b") + link("b", "c") + link("c", "d"), []string{link("b", "a") + link("c", "a")},
			[]string{"f1:1 b cycle a b", "f1:2 c cycle a b c"}},
		{"through a missing parent that arrives", link("a", "x"), []string{link("b", "a") + link("x", "b")}, []string{"f1:2 x cycle a x b"}},
		{"turned the other way round", link("a", "b"), []string{"{\"id\":\"a\"}\n" + link("b", "a")}, nil},
		{"turned, children first", link("a", "b"), []string{link("b", "a") + "{\"id\":\"a\"}\n"}, nil},
		{"turned across files", link("a", "b") + link("b", "c"), []string{link("c", "b"), link("b", "a"), "{\"id\":\"a\"}"}, nil},
		{"mended in the same file", "", []string{link("a", "b") + link("b", "a") + "{\"id\":\"b\"}\n"}, nil},
		{"not mended", "", []string{link("a", "b") + link("b", "a") + link("b", "a")}, []string{"f1:2 b cycle a b", "f1:3 b cycle a b"}},
		{"replaced before it closes", "", []string{link("a", "b") + "{\"id\":\"a\",\"n\":1}\n" + link("b", "a")}, nil},
		{"two", "", []string{link("a", "b") + link("b", "a") + link("c", "d") + link("d", "c")}, []string{"f1:2 b cycle a b", "f1:4 d cycle c d"}},
		{"one replaced does not count", "", []string{link("a", "b") + link("b", "a") + link("b", "c") + link("c", "d")}, nil},
		{"the version before counts again", "", []string{link("b", "c") + link("a", "b") + link("b", "a") + link("c", "a")},
			[]string{"f1:3 b cycle a b", "f1:4 c cycle a b c"}},
		{"every version closes one", link("a", "x"), []string{link("x", "b") + link("b", "a") + link("b", "x")},
			[]string{"f1:3 b cycle b x", "f1:2 b cycle a x b"}},
		{"an unchanged one is not to blame", link("a", "b"), []string{link("b", "a") + link("a", "b")}, []string{"f1:1 b cycle a b"}},
		{"the end of a long tail", link("t", "s") + link("s", "a"), []string{link("u", "t") + link("a", "b") + link("b", "a") + link("b", "u")},
			[]string{"f1:4 b cycle a b u t s", "f1:3 b cycle a b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, mode := range []OnError{Stop, Skip} {
				log := store.NewMemory()
				in := ingesterOf(t, log)
				imported(t, in, Options{}, text(tt.stored)...)
				before := exported(t, log)
				_, bad := imported(t, in, Options{OnError: mode}, text(tt.files...)...)
				if !slices.Equal(bad, tt.want) {
					t.Errorf("rejects = %q, want %q", bad, tt.want)
				}
				if after := exported(t, log); mode == Stop && tt.want != nil && after != before {
					t.Errorf("Export = %s, want %s", after, before)
				}
			}
		})
	}
}

func TestCycleErrorString(t *testing.T) {
	err := &CycleError{CaseID: "b", Cycle: []string{"a", "b"}}
	if got, want := err.Error(), "closes a cycle: a -> b -> a"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestImportLongChain(t *testing.T) {
	const n = 10_000
	for name, order := range map[string]func(i int) int{
		"parents first":  func(i int) int { return i },
		"children first": func(i int) int { return n - 1 - i },
		"shuffled":       func(i int) int { return i * 7919 % n },
	} {
		var lines strings.Builder
		for i := range n {
			k := order(i)
			fmt.Fprintf(&lines, "{\"id\":\"c%d\",\"recurrence_of\":\"c%d\"}\n", k+1, k)
		}
		in := ingesterOf(t, store.NewMemory())
		if got, bad := imported(t, in, Options{}, text(lines.String())...); got.Created != n {
			t.Errorf("%s: Import = %+v, %q, want %d created", name, got, bad, n)
		}
		got, bad := imported(t, in, Options{}, text(fmt.Sprintf(`{"id":"c0","recurrence_of":"c%d"}`, n))...)
		if len(bad) != 1 {
			t.Errorf("%s: Import = %+v, want the record that closes the chain rejected", name, got)
		}
	}
}

// TestImportMany goes over the bounds of a batch and of the spool's memory.
func TestImportMany(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		dir := t.TempDir()
		r := rand.New(rand.NewPCG(3, 4))
		var lines strings.Builder
		want := make(map[string]string)
		for i := range 1500 {
			id := fmt.Sprintf("m%04d", i)
			if i%10 == 9 { // again, in another batch or in this one
				id = fmt.Sprintf("m%04d", r.IntN(i))
			}
			want[id] = generated(r, id, 14<<10)
			lines.WriteString(want[id] + "\n")
		}
		in := ingesterOf(t, log)
		spooled := false
		o := Options{SpoolDir: dir, OnProgress: func(Progress) {
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			spooled = spooled || len(files) > 0
		}}
		got, _ := imported(t, in, o, text(lines.String())...)
		if got.Created != len(want) || got.Created+got.Updated != 1500 {
			t.Errorf("Import = %+v, want %d created", got, len(want))
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
			t.Errorf("the import leaves %q", files)
		}
		lineOf := func(s string) string { return s + "\n" }
		var all strings.Builder
		for _, id := range sortedKeys(want) {
			all.WriteString(lineOf(want[id]))
		}
		if exported(t, log) != all.String() {
			t.Error("Export differs from what was imported")
		}
		if head, err := log.Head(t.Context()); err != nil || head.Sequence < 3 {
			t.Errorf("Head = %v, %v, want several changes", head, err)
		}
		if got, _ := imported(t, in, Options{}, text(all.String())...); got.Unchanged != len(want) {
			t.Errorf("second Import = %+v, want all unchanged", got)
		}
	})
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestImportProgress(t *testing.T) {
	var last Progress
	sources := text(`{"id":"a"}`, `[{"id":"b"},{"id":"a"}]`)
	_, err := ingesterOf(t, store.NewMemory()).Import(t.Context(), sources, Options{OnProgress: func(p Progress) { last = p }})
	total := sources[0].Size + sources[1].Size
	want := Progress{Report: Report{Read: 3, Created: 2, Unchanged: 1}, BytesRead: total, BytesTotal: total, Stored: 2, ToStore: 2}
	if err != nil || last != want {
		t.Errorf("last progress = %+v, %v, want %+v", last, err, want)
	}
}

// TestImportConflict lets other writers in between.
func TestImportConflict(t *testing.T) {
	log := store.NewMemory()
	others := []store.Op{
		put("a", `{"id":"a"}`),                        // the same record
		put("b", `{"id":"b","n":2}`),                  // another
		put("x", `{"id":"x","recurrence_of":"c"}`),    // closes a cycle with c
		put("y", `{"id":"y","recurrence_of":"none"}`), // does not matter
	}
	w := &wrapped{Log: log}
	w.append = func(ctx context.Context, base store.Position, c store.Change) (store.Position, error) {
		if len(others) > 0 {
			appended(t, log, others[0])
			others = others[1:]
		}
		return log.Append(ctx, base, c)
	}
	lines := `{"id":"a"}` + "\n" + `{"id":"b","n":3}` + "\n" + `{"id":"c","recurrence_of":"x"}` + "\n" + `{"id":"d"}`
	got, bad := imported(t, ingesterOf(t, w), Options{OnError: Skip}, text(lines)...)
	if want := (Report{Read: 4, Created: 1, Updated: 1, Unchanged: 1, Rejected: 1}); got != want {
		t.Errorf("Import = %+v, want %+v", got, want)
	}
	if want := []string{"f1:3 c cycle c x"}; !slices.Equal(bad, want) {
		t.Errorf("rejects = %q, want %q", bad, want)
	}
	want := []string{`{"id":"a"}`, `{"id":"b","n":3}`, `{"id":"d"}`, `{"id":"x","recurrence_of":"c"}`, `{"id":"y","recurrence_of":"none"}`, ""}
	if diff := cmp.Diff(want, strings.Split(exported(t, log), "\n")); diff != "" {
		t.Errorf("Export differs (-want +got):\n%s", diff)
	}

	others = []store.Op{put("p", `{"id":"p","recurrence_of":"q"}`)}
	report, err := ingesterOf(t, w).Import(t.Context(), text(`[{"id":"q","recurrence_of":"p"},{"id":"r"}]`), Options{})
	if err == nil || report.Created != 0 {
		t.Errorf("Import with Stop = %+v, %v, want an error and nothing stored", report, err)
	}
}

// TestImportUnknownOutcome lets Append fail after it has, or has not, stored.
func TestImportUnknownOutcome(t *testing.T) {
	broken := errors.New("connection lost")
	for _, stored := range []bool{true, false} {
		log := store.NewMemory()
		w := &wrapped{Log: log}
		w.append = func(ctx context.Context, base store.Position, c store.Change) (store.Position, error) {
			if stored {
				if _, err := log.Append(ctx, base, c); err != nil {
					return store.Position{}, err
				}
			}
			return store.Position{}, broken
		}
		report, err := ingesterOf(t, w).Import(t.Context(), text(`{"id":"a"}`), Options{})
		if stored && (err != nil || report.Created != 1) {
			t.Errorf("Import = %+v, %v, want 1 created", report, err)
		}
		if !stored && (!errors.Is(err, broken) || report.Created != 0) {
			t.Errorf("Import = %+v, %v, want %v", report, err, broken)
		}
	}
}

// TestImportCancelled ends an import that waits for input that never comes.
func TestImportCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	sources, err := Open([]string{"-"}, r)
	if err != nil {
		t.Fatal(err)
	}
	log := store.NewMemory()
	ctx, cancel := context.WithCancel(t.Context())
	in := ingesterOf(t, log)
	done := make(chan error)
	go func() {
		_, err := in.Import(ctx, sources, Options{OnError: Skip})
		done <- err
	}()
	if _, err := io.WriteString(w, "{\"id\":\"a\"}\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Import = %v, want %v", err, context.Canceled)
	}
	if got := exported(t, log); got != "" {
		t.Errorf("Export = %s, want nothing", got)
	}
}

// TestImportCorpora imports the real records next to the repository, if they
// are there, and exports them again.
func TestImportCorpora(t *testing.T) {
	dir := os.Getenv("INCIDENTGRAPH_CORPORA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpora")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".origin.jsonl") })
	if len(files) == 0 {
		t.Skip("no corpora")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			eachStore(t, func(t *testing.T, log store.Log) { roundTrip(t, log, file) })
		})
	}
}

func roundTrip(t *testing.T, log store.Log, file string) {
	in := ingesterOf(t, log)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]string)
	for _, line := range strings.Split(string(raw), "\n") {
		if inc, err := incident.Decode([]byte(line)); err == nil {
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(line)); err != nil {
				t.Fatal(err)
			}
			want[inc.ID] = compact.String()
		}
	}
	sources, err := Open([]string{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := imported(t, in, Options{OnError: Skip}, sources...)
	if got.Created != len(want) {
		t.Errorf("Import = %+v, want %d created", got, len(want))
	}
	lines := strings.Split(strings.TrimSuffix(exported(t, log), "\n"), "\n")
	for i, id := range sortedKeys(want) {
		if i >= len(lines) || lines[i] != want[id] {
			t.Fatalf("Export: line %d is not %s as it came in", i+1, id)
		}
	}
	if again, _ := imported(t, in, Options{OnError: Skip}, text(string(raw))...); again.Unchanged != len(want) {
		t.Errorf("second Import = %+v, want %d unchanged", again, len(want))
	}
	report, err := Check(t.Context(), log, nil)
	if err != nil || report.Faults != nil || report.Incidents != len(want) {
		t.Errorf("Check = %+v, %v, want no faults", report, err)
	}
}
