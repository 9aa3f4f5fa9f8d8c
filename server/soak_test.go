package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/ingest"
)

// pause waits for a random time up to so many milliseconds: the moment of a
// kill is what is tested.
func pause(random *rand.Rand, most int) {
	time.Sleep(time.Duration(random.IntN(most*1000)) * time.Microsecond)
}

// importFile imports a file in this process, or through the server that has
// the store open.
func importFile(db, file string) (ingest.Report, error) {
	sources, err := ingest.Open([]string{file}, nil)
	if err != nil {
		return ingest.Report{}, err
	}
	return importInto(context.Background(), db, sources, importOptions{
		onError:      onErrorStop,
		onReject:     func(rejectLine) {},
		onPassedOver: func(string) {},
		onProgress:   func(ingest.Progress) {},
	})
}

// newClient gives a client that keeps its connections.
func newClient(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: patience}
}

// readUntil lets some clients read until stop is called. Their errors do not
// count: the server may be killed under them.
func readUntil(url string, clients int) (stop func()) {
	var stopped atomic.Bool
	var running sync.WaitGroup
	client := newClient(clients)
	for range clients {
		running.Go(func() {
			for !stopped.Load() {
				if _, err := ask(client, url, otherQueries()[0]); err != nil {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	return func() {
		stopped.Store(true)
		running.Wait()
		client.CloseIdleConnections()
	}
}

// stateQuery asks for what must belong together: counts from the index, titles
// from the index, summaries from the records. See soak.run.
const stateQuery = `{
	service { revision incidentCount }
	incidents(first: 1) { totalCount }
	batch: incidents(where: { components: { any: ["soak-batch"] } }, first: 100) { totalCount nodes { title { text } summary { text } } }
	new: incidents(where: { components: { any: ["soak-new"] } }, first: 1) { totalCount }
}`

// state is the answer to stateQuery.
type state struct {
	Service   struct{ Revision, IncidentCount int }
	Incidents struct{ TotalCount int }
	New       struct{ TotalCount int }
	Batch     struct {
		TotalCount int
		Nodes      []struct{ Title, Summary struct{ Text string } }
	}
}

// otherQueries are asked meanwhile.
func otherQueries() []string {
	id := fixture.CaseID(7)
	return []string{
		`{ incidents(first: 5) { totalCount nodes { caseId title { text } summary { text } components { slug incidents(first: 2) { totalCount nodes { caseId } } } } } }`,
		`{ incident(caseId: "` + id + `") { org { name } similar(first: 5) { edges { score node { caseId title { text } } } } related(first: 5) { nodes { caseId } } } }`,
		`{ incident(caseId: "` + fixture.CaseID(3400) + `") { recurrenceChain { size members(first: 20) { nodes { caseId date } } } } }`,
		`{ recurrenceChains(first: 3) { totalCount } }`,
	}
}

// soak is a server under load with an import running.
type soak struct {
	t        *testing.T
	db, url  string
	client   *http.Client
	base     state // before the first run
	stop     atomic.Bool
	requests atomic.Int64
	failures atomic.Int64

	mu   sync.Mutex
	tags map[string]string // answers by entity tag, guarded by mu
}

const soakBatch = 100 // records that each run changes

// run imports the r-th run, one change of the store: all records of the batch
// say its number, in what the index keeps and in what it does not, and there
// is one incident more.
func (s *soak) run(file string, r int) error {
	var lines strings.Builder
	for i := range soakBatch {
		fmt.Fprintf(&lines, `{"id":"SOAK-%d","title":"run %d","summary":"run %d","components":["soak-batch"]}`+"\n", i, r, r)
	}
	fmt.Fprintf(&lines, `{"id":"NEW-%d","components":["soak-new"]}`+"\n", r)
	writeFile(s.t, file, lines.String())
	report, err := importFile(s.db, file)
	if err == nil && report.Created+report.Updated != soakBatch+1 {
		err = fmt.Errorf("the import reports %+v", report)
	}
	return err
}

// failf reports the first failures.
func (s *soak) failf(format string, args ...any) {
	if s.failures.Add(1) <= 10 {
		s.t.Errorf(format, args...)
	}
}

// askState asks for the state and checks that it is that of one position.
func (s *soak) askState() {
	a, err := ask(s.client, s.url, stateQuery)
	if err != nil || a.status != http.StatusOK || a.errors != nil {
		s.failf("an answer is %d %.300s (%v)", a.status, a.raw, err)
		return
	}
	var got state
	if err := json.Unmarshal(a.data, &got); err != nil {
		s.failf("an answer: %v", err)
		return
	}
	runs := got.Service.Revision - s.base.Service.Revision
	want := fmt.Sprintf("run %d", runs)
	mixed := got.Service.IncidentCount != s.base.Service.IncidentCount+runs ||
		got.Incidents.TotalCount != got.Service.IncidentCount ||
		got.New.TotalCount != s.base.New.TotalCount+runs ||
		got.Batch.TotalCount != soakBatch || len(got.Batch.Nodes) != soakBatch
	for _, n := range got.Batch.Nodes {
		mixed = mixed || n.Title.Text != want || n.Summary.Text != want
	}
	if mixed {
		s.failf("an answer at revision %d mixes positions: %.500s", got.Service.Revision, a.raw)
	}
}

// askAgain asks by GET: equal tags must mean equal answers.
func (s *soak) askAgain() {
	resp, err := s.client.Get(s.url + "/graphql?query=" + url.QueryEscape(stateQuery))
	if err != nil {
		s.failf("GET: %v", err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	tag := resp.Header.Get("ETag")
	if err != nil || resp.StatusCode != http.StatusOK || tag == "" {
		s.failf("GET = %d with the tag %q (%v)", resp.StatusCode, tag, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.tags[tag]; ok && before != string(body) {
		s.failf("two answers have the tag %s", tag)
	}
	s.tags[tag] = string(body)
}

// read is one client.
func (s *soak) read(seed uint64) {
	random := rand.New(rand.NewPCG(seed, 200))
	others := otherQueries()
	for !s.stop.Load() {
		switch random.IntN(10) {
		case 0, 1, 2:
			s.askState()
		case 3:
			s.askAgain()
		default:
			a, err := ask(s.client, s.url, others[random.IntN(len(others))])
			if err != nil || a.status != http.StatusOK || a.errors != nil {
				s.failf("an answer is %d %.300s (%v)", a.status, a.raw, err)
			}
		}
		s.requests.Add(1)
	}
}

// usage is what a server takes.
type usage struct{ goroutines, heap float64 }

func usageOf(t *testing.T, p *process) usage {
	get(t, p.admin+"/debug/pprof/heap?gc=1")
	return usage{metric(t, p.admin, "go_goroutines"), metric(t, p.admin, "go_memstats_heap_alloc_bytes")}
}

// TestSoak lets 200 clients read while imports run through the server, one
// after the other, and backups are made. No answer may fail or mix two
// positions, and afterwards the server takes no more than before.
func TestSoak(t *testing.T) {
	const cacheBytes = 8 << 20
	clients, incidents := 200, 10_000
	if testing.Short() {
		clients, incidents = 20, 2000
	}
	dir := t.TempDir()
	s := &soak{t: t, db: filepath.Join(dir, "case.db"), client: newClient(clients), tags: make(map[string]string)}
	if _, err := importFile(s.db, writeRecords(t, filepath.Join(dir, "records.jsonl"), 1, incidents, fixture.Lite)); err != nil {
		t.Fatal(err)
	}
	runFile := filepath.Join(dir, "run.jsonl")
	if err := s.run(runFile, 0); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, "--db", s.db, "--admin-addr", "127.0.0.1:0", "--log-level", "warn", "--response-cache", fmt.Sprint(cacheBytes))
	s.url = p.url
	mustAsk(t, s.url, stateQuery, &s.base)

	s.load(1, clients, rounds(300, 3000), runFile)
	before := usageOf(t, p)
	imported := s.load(2, clients, rounds(2500, 60_000), runFile)
	var after usage
	if err := eventually("the server to take no more than before", func() bool {
		after = usageOf(t, p)
		return after.goroutines <= before.goroutines+5 && after.heap <= 1.2*before.heap+cacheBytes
	}); err != nil {
		t.Errorf("%v: %+v before, %+v after", err, before, after)
	}
	if imported == 0 || s.requests.Load() < int64(clients) {
		t.Errorf("%d imports and %d requests were made", imported, s.requests.Load())
	}
	mustRun(t, "check", "--db", s.db)
	t.Logf("%d requests, %d imports, %d failures; %+v before, %+v after", s.requests.Load(), imported, s.failures.Load(), before, after)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// load reads and imports for some milliseconds, and gives the number of
// imports. The runs go on where those before ended.
func (s *soak) load(seed uint64, clients, milliseconds int, file string) (imports int) {
	var now state
	mustAsk(s.t, s.url, stateQuery, &now)
	next := now.Service.Revision - s.base.Service.Revision + 1
	s.stop.Store(false)
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() { s.read(seed<<32 + uint64(i)) })
	}
	running.Go(func() {
		for !s.stop.Load() {
			if err := s.run(file, next+imports); err != nil {
				s.failf("import: %v", err)
				return
			}
			imports++
		}
	})
	running.Go(func() {
		for !s.stop.Load() {
			if err := backup(context.Background(), s.db, file+".backup", io.Discard); err != nil {
				s.failf("backup: %v", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	s.stop.Store(true)
	running.Wait()
	s.client.CloseIdleConnections()
	return imports
}
