package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// eachStore runs a test on an empty store of each kind.
func eachStore(t *testing.T, test func(t *testing.T, log store.Log)) {
	t.Run("memory", func(t *testing.T) { test(t, store.NewMemory()) })
	t.Run("bolt", func(t *testing.T) {
		log, err := boltstore.Open(filepath.Join(t.TempDir(), "test.db"), boltstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := log.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
		}()
		test(t, log)
	})
}

func ingesterOf(t testing.TB, log store.Log) *Ingester {
	t.Helper()
	in, err := New(t.Context(), log, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// text makes sources of texts, named f1, f2 and so on.
func text(texts ...string) []Source {
	sources := make([]Source, len(texts))
	for i, s := range texts {
		sources[i] = Source{Name: fmt.Sprintf("f%d", i+1), Size: int64(len(s)), Reader: strings.NewReader(s)}
	}
	return sources
}

// imported imports and gives the report, and the bad records as
// "file:line id member code".
func imported(t testing.TB, in *Ingester, o Options, sources ...Source) (Report, []string) {
	t.Helper()
	var bad []string
	o.OnReject = func(r Reject) { bad = append(bad, rejectString(r)) }
	report, err := in.Import(t.Context(), sources, o)
	if err != nil {
		t.Fatalf("Import = %v", err)
	}
	if report.Read != report.Created+report.Updated+report.Unchanged+report.Rejected || report.Rejected != len(bad) {
		t.Errorf("Import = %+v with %d rejects, want numbers that add up", report, len(bad))
	}
	return report, bad
}

func rejectString(r Reject) string {
	var bad *incident.Error
	var cycle *CycleError
	switch {
	case errors.As(r.Err, &bad):
		return fmt.Sprintf("%s:%d %s %s %s", r.File, r.Line, bad.CaseID, incident.PathString(bad.Path), bad.Code)
	case errors.As(r.Err, &cycle):
		return fmt.Sprintf("%s:%d %s cycle %s", r.File, r.Line, cycle.CaseID, strings.Join(cycle.Cycle, " "))
	}
	return fmt.Sprintf("%s:%d %T", r.File, r.Line, r.Err)
}

func exported(t testing.TB, log store.Log) string {
	t.Helper()
	var b bytes.Buffer
	if err := Export(t.Context(), log, &b); err != nil {
		t.Fatalf("Export = %v", err)
	}
	return b.String()
}

func viewOf(t testing.TB, in *Ingester) *View {
	t.Helper()
	v, err := in.View(t.Context())
	if err != nil {
		t.Fatalf("View = %v", err)
	}
	t.Cleanup(v.Close)
	return v
}

// appended commits operations without looking into them.
func appended(t testing.TB, log store.Log, ops ...store.Op) {
	t.Helper()
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change := store.Change{Time: time.Now(), RequestID: fmt.Sprintf("test-%d", head.Sequence), Ops: ops}
	if _, err := log.Append(t.Context(), head, change); err != nil {
		t.Fatal(err)
	}
}

func put(id, record string) store.Op {
	return store.Op{Kind: store.Put, ID: id, Record: []byte(record)}
}

// picture writes down what a snapshot shows, in a form that does not depend
// on the order in which it came there.
func picture(s *index.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d, %d incidents, languages %v\n", s.Revision(), s.Len(), s.Languages())
	order := []index.Order{{Field: index.ByCaseID}}
	for _, n := range s.Page(s.All(), order, index.PageArgs{First: s.Len() + 1, Last: -1}).Nodes {
		related, parent := s.Unresolved(n)
		fmt.Fprintf(&b, "%s v%d r%d %s %v %v open %v %q links %d\n", n.ID, n.Version, n.Revision, n.Date, n.Title, n.Region, related, parent, s.LinkCount(n))
		for _, r := range s.Related(n) {
			fmt.Fprintf(&b, "  related %s %d\n", s.CaseID(r.Ord), r.Direction)
		}
		if p := s.RecurrenceOf(n); p != nil {
			fmt.Fprintf(&b, "  recurrence of %s\n", p.ID)
		}
	}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, id := range s.Terms(v) {
			if t := s.Term(id); t.Count > 0 {
				fmt.Fprintf(&b, "%s %q %d\n", t.Term, t.Written, t.Count)
			}
		}
	}
	for _, id := range s.Orgs() {
		o := s.Org(id)
		fmt.Fprintf(&b, "org %s %q %d\n", o.Slug, o.Name, o.Count)
	}
	return b.String()
}

// wrapped is a log with some methods replaced.
type wrapped struct {
	store.Log
	append func(ctx context.Context, base store.Position, c store.Change) (store.Position, error)
}

func (w *wrapped) Append(ctx context.Context, base store.Position, c store.Change) (store.Position, error) {
	return w.append(ctx, base, c)
}
