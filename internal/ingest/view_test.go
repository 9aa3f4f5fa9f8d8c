package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/index"
	"incidentgraph/internal/store"
)

func TestView(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		imported(t, in, Options{}, text(`[{"id":"a","org":"Old"},{"id":"b"}]`)...)
		old := viewOf(t, in)
		imported(t, in, Options{}, text(`[{"id":"a","org":"New"},{"id":"c"}]`)...)
		if ok, err := in.Delete(t.Context(), "b", "me"); !ok || err != nil {
			t.Errorf("Delete(b) = %v, %v, want true", ok, err)
		}
		if ok, err := in.Delete(t.Context(), "b", "me"); ok || err != nil {
			t.Errorf("Delete(b) again = %v, %v, want false", ok, err)
		}
		now := viewOf(t, in)
		for _, tt := range []struct {
			view *View
			want string
		}{{old, "a Old, b , no c at 1"}, {now, "a New, no b, c  at 3"}} {
			var got []string
			for _, id := range []string{"a", "b", "c"} {
				inc, err := tt.view.Incident(id)
				switch {
				case err != nil:
					t.Errorf("Incident(%s) = %v", id, err)
				case inc == nil:
					got = append(got, "no "+id)
				default:
					got = append(got, id+" "+inc.Org)
				}
			}
			s := fmt.Sprintf("%s at %d", strings.Join(got, ", "), tt.view.Position().Sequence)
			if s != tt.want || tt.view.Index().Revision() != tt.view.Position().Sequence {
				t.Errorf("view shows %s, want %s", s, tt.want)
			}
		}
		first, _ := now.Incident("a")
		if second, _ := now.Incident("a"); first != second {
			t.Error("Incident(a) was decoded twice")
		}
		now.Close()
		now.Close()
		if _, err := now.Incident("c"); err != nil {
			t.Errorf("Incident(c) from memory = %v", err)
		}
		old.Close()
		fresh := viewOf(t, in)
		fresh.Close()
		if _, err := fresh.Incident("c"); !errors.Is(err, store.ErrClosed) {
			t.Errorf("Incident(c) after Close = %v, want %v", err, store.ErrClosed)
		}
	})
}

// TestDanglingLinks lets linked cases come and go.
func TestDanglingLinks(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		links := func() string {
			v := viewOf(t, in)
			v.Close()
			s := v.Index()
			n := s.Lookup("a")
			related, parent := s.Unresolved(n)
			edges := len(s.Related(n))
			if s.RecurrenceOf(n) != nil {
				edges++
			}
			return fmt.Sprintf("%v %q %d", related, parent, edges)
		}
		imported(t, in, Options{}, text(`{"id":"a","related":["b"],"recurrence_of":"c"}`)...)
		if got, want := links(), `[b] "c" 0`; got != want {
			t.Errorf("links = %s, want %s", got, want)
		}
		imported(t, in, Options{}, text(`[{"id":"b"},{"id":"c"}]`)...)
		if got, want := links(), `[] "" 2`; got != want {
			t.Errorf("links = %s, want %s", got, want)
		}
		for _, id := range []string{"b", "c"} {
			if _, err := in.Delete(t.Context(), id, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := links(), `[b] "c" 0`; got != want {
			t.Errorf("links = %s, want %s", got, want)
		}
	})
}

// randomOps gives operations on distinct ids that live says exist or not, and
// updates it.
func randomOps(r *rand.Rand, live map[string]bool) []store.Op {
	var ops []store.Op
	for _, i := range r.Perm(30)[:1+r.IntN(6)] {
		id := fmt.Sprintf("i%02d", i)
		if live[id] && r.IntN(3) == 0 {
			ops = append(ops, store.Op{Kind: store.Delete, ID: id})
			live[id] = false
			continue
		}
		// Older cases only, so that there is no cycle.
		rec := fmt.Sprintf(`{"id":%q,"org":"Org %d","title":{"en":"T%d"},"date":"20%02d","components":["c%d","C%d"],"related":["j%d"]`,
			id, r.IntN(4), r.IntN(100), r.IntN(30), r.IntN(5), r.IntN(5), r.IntN(3))
		if i > 0 && r.IntN(2) == 0 {
			rec += fmt.Sprintf(`,"recurrence_of":"i%02d"`, r.IntN(i))
		}
		ops = append(ops, put(id, rec+"}"))
		live[id] = true
	}
	return ops
}

// TestCatchUp compares an index that follows with one that is made anew.
func TestCatchUp(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		r := rand.New(rand.NewPCG(5, 6))
		live := make(map[string]bool)
		for range 40 {
			for range 1 + r.IntN(3) {
				appended(t, log, randomOps(r, live)...)
			}
			if err := in.CatchUp(t.Context()); err != nil {
				t.Fatalf("CatchUp = %v", err)
			}
			got, want := picture(in.current.Load().index), picture(ingesterOf(t, log).current.Load().index)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("index that follows differs from a new one (-new +following):\n%s", diff)
			}
		}
		if report, err := Check(t.Context(), log, nil); err != nil || report.Faults != nil {
			t.Errorf("Check = %+v, %v, want no faults", report, err)
		}
	})
}

// compacted holds no changes.
type compacted struct{ store.Log }

func (c compacted) Follow(context.Context, store.Position) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) { yield(store.Entry{}, store.ErrCompacted) }
}

func TestCatchUpCompacted(t *testing.T) {
	log := compacted{store.NewMemory()}
	in := ingesterOf(t, log)
	appended(t, log, put("a", `{"id":"a"}`), put("b", `{"id":"b"}`))
	if err := in.CatchUp(t.Context()); err != nil {
		t.Fatalf("CatchUp = %v", err)
	}
	appended(t, log, store.Op{Kind: store.Delete, ID: "a"})
	v := viewOf(t, in)
	if v.Index().Len() != 1 || v.Index().Revision() != 2 {
		t.Errorf("View = %d incidents at %d, want 1 at 2", v.Index().Len(), v.Index().Revision())
	}
}

func TestCorruptRecord(t *testing.T) {
	for _, op := range []store.Op{put("a", `{"id":"a"`), put("a", `{"id":"b"}`), put("a", `{"id":"a","date":1}`)} {
		log := store.NewMemory()
		in := ingesterOf(t, log)
		appended(t, log, put("z", `{"id":"z"}`))
		appended(t, log, op)
		if err := in.CatchUp(t.Context()); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("CatchUp over %s = %v, want %v", op.Record, err, store.ErrCorrupt)
		}
		if _, err := New(t.Context(), log, nil, nil); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("New over %s = %v, want %v", op.Record, err, store.ErrCorrupt)
		}
		if got := in.current.Load().index.Len(); got != 0 {
			t.Errorf("index after an error has %d incidents, want none of the batch", got)
		}
	}
}

func TestNewProgress(t *testing.T) {
	log := store.NewMemory()
	var ops []store.Op
	for i := range 2500 {
		ops = append(ops, put(fmt.Sprintf("i%d", i), fmt.Sprintf(`{"id":"i%d"}`, i)))
	}
	appended(t, log, ops...)
	var got []string
	_, err := New(t.Context(), log, nil, func(done, total int) { got = append(got, fmt.Sprintf("%d/%d", done, total)) })
	if want := []string{"1000/2500", "2000/2500", "2500/2500"}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("progress = %v, %v, want %v", got, err, want)
	}
}

// TestViewsWhileImporting reads while others write: each view must show one
// state, in which all records of a run have the same number.
func TestViewsWhileImporting(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		in := ingesterOf(t, log)
		run := func(n int) string {
			var b strings.Builder
			for i := range 50 {
				fmt.Fprintf(&b, "{\"id\":\"i%d\",\"org\":\"Org %d\",\"related\":[\"i%d\"]}\n", i, n, (i+n)%50+100)
			}
			return b.String()
		}
		imported(t, in, Options{}, text(run(0))...)
		done := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if err := lookAt(in); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		var writers sync.WaitGroup
		for w := range 2 {
			writers.Go(func() {
				for n := range 10 {
					if _, err := in.Import(t.Context(), text(run(1+2*n+w)), Options{}); err != nil {
						t.Errorf("Import = %v", err)
					}
				}
			})
		}
		writers.Wait()
		close(done)
		readers.Wait()
	})
}

// lookAt opens a view and checks that it shows one state.
func lookAt(in *Ingester) error {
	v, err := in.View(context.Background())
	if err != nil {
		return err
	}
	defer v.Close()
	s := v.Index()
	if s.Revision() != v.Position().Sequence || s.Len() != 50 || len(s.Orgs()) != 1 {
		return fmt.Errorf("view at %v: index at %d with %d incidents of %d orgs", v.Position(), s.Revision(), s.Len(), len(s.Orgs()))
	}
	name := s.Org(s.Orgs()[0]).Name
	for o := range s.All().All() {
		n := s.Node(o)
		inc, err := v.Incident(n.ID)
		if err != nil {
			return err
		}
		if inc.Org != name || n.Org == index.NoOrg {
			return fmt.Errorf("view at %v: %s has org %q in the record and %q in the index", v.Position(), n.ID, inc.Org, name)
		}
	}
	return nil
}
