package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// settings are what the command line says.
type settings struct {
	corpora     []corpus
	workloads   []workload
	modes       []string
	concurrency []int
	duration    time.Duration
	runs        int
	requests    int
	seed        uint64
	sqlite      string // program, "" if there is none
	self        string // this program
	note        func(format string, args ...any)
}

// The modes.
const (
	// uncached asks for something else each time.
	uncached = "uncached"
	// repeated asks for a few things over and over, as dashboards do, and lets
	// ours keep its answers.
	repeated = "repeated"
)

// repeatedRequests is how many different requests are repeated.
const repeatedRequests = 8

// contestants take part in this order. What they have ready does not change
// with the mode, so SQLite and the constants are measured uncached alone.
func (s *settings) contestants(mode string) []string {
	list := []string{ours, bare}
	if mode == uncached {
		list = append(list, constants)
		if s.sqlite != "" {
			list = append(list, sqlite)
		}
	}
	return list
}

// row is one row of the table of requests.
type row struct {
	corpus, mode string
	workload     workload
	concurrency  int
	requests     int                // different ones
	bytes        int                // of an answer, on average
	of           map[string]*figure // by contestant
	ratio        map[string]float64 // of our requests a second to the contestant's
}

// figure is what was measured of one contestant, the median of all runs.
type figure struct {
	perSecond     float64
	p50, p99      time.Duration
	cpu           time.Duration // of the server, for a request
	allocs, bytes float64       // likewise
}

// footprint is a row of the table of corpora.
type footprint struct {
	corpus     corpus
	source     int64 // bytes of the records as JSON Lines
	contestant string
	load       loaded
	file       int64
	open       time.Duration
	live, peak int64 // of the server, at the end
}

// measureCorpus measures all workloads on one corpus.
func (s *settings) measureCorpus(ctx context.Context, c corpus) (rows []row, feet []footprint, err error) {
	dir, err := os.MkdirTemp("", "incidentgraph-bench-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s.note("%s: making %d records", c.name, c.n)
	a := &arena{settings: s, corpus: c, dir: dir, servers: make(map[string]*process)}
	defer func() { err = errors.Join(err, a.stop()) }()
	if err := a.fill(ctx); err != nil {
		return nil, nil, err
	}
	if err := a.drawRequests(); err != nil {
		return nil, nil, err
	}
	if err := a.start(ctx); err != nil {
		return nil, nil, err
	}
	for _, w := range s.workloads {
		for _, mode := range s.modes {
			for _, n := range s.concurrency {
				r, err := a.measure(ctx, w, mode, n)
				if err != nil {
					return nil, nil, err
				}
				rows = append(rows, r)
			}
		}
	}
	if err := a.finish(ctx); err != nil {
		return nil, nil, err
	}
	return rows, a.feet, nil
}

// arena holds the contestants' files and servers for one corpus.
type arena struct {
	*settings
	corpus   corpus
	dir      string
	requests map[string][]request // by workload
	servers  map[string]*process  // by contestant
	feet     []footprint
}

func (a *arena) path(name string) string { return filepath.Join(a.dir, name) }

// fill makes the stores.
func (a *arena) fill(ctx context.Context) error {
	source, err := a.corpus.write(a.path("corpus.jsonl"))
	if err != nil {
		return err
	}
	for _, contestant := range a.contestants(uncached) {
		foot := footprint{corpus: a.corpus, source: source, contestant: contestant}
		var err error
		switch contestant {
		case ours:
			var args []string
			if args, err = task(loadTask, loading{Corpus: a.path("corpus.jsonl"), Store: a.path(contestant)}); err == nil {
				err = runProcess(ctx, &foot.load, a.self, args...)
			}
		case sqlite:
			err = runProcess(ctx, &foot.load, a.sqlite, "load", a.path("corpus.jsonl"), a.path(contestant))
		default:
			continue
		}
		if err != nil {
			return err
		}
		for _, path := range []string{a.path(contestant), textFolder(a.path(contestant))} {
			n, err := sizeOf(path)
			if err != nil {
				return err
			}
			foot.file += n
		}
		a.note("%s: %s is loaded, %s, of that text %s", a.corpus.name, contestant, seconds(foot.load.Took), seconds(foot.load.Text))
		a.feet = append(a.feet, foot)
	}
	return os.Remove(a.path("corpus.jsonl"))
}

// sizeOf gives the size of a file, or of all files in a folder; nothing has
// none.
func sizeOf(path string) (int64, error) {
	var n int64
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return n, err
}

// drawRequests draws the requests and asks the oracle for their answers.
func (a *arena) drawRequests() error {
	o := newOracle(a.corpus)
	a.requests = make(map[string][]request)
	for _, w := range a.workloads {
		list, err := w.requests(o, a.seed, a.settings.requests)
		if err != nil {
			return err
		}
		a.requests[w.name] = list
		a.note("%s: %s has %d requests", a.corpus.name, w.name, len(list))
	}
	return nil
}

// start starts the servers and compares their answers: ours with the oracle's,
// those of the others with ours. From then on the answers are ours to the byte.
func (a *arena) start(ctx context.Context) error {
	for _, contestant := range a.contestants(uncached) {
		if contestant == bare { // the first one after ours
			var all []request
			for _, list := range a.requests {
				all = append(all, list...)
			}
			if err := writeJSON(a.path("requests"), all); err != nil {
				return err
			}
		}
		p, err := a.startServer(ctx, contestant)
		if err != nil {
			return err
		}
		a.servers[contestant] = p
		a.note("%s: %s is open, %s", a.corpus.name, contestant, seconds(p.Open))
		for i, foot := range a.feet {
			if foot.contestant == contestant {
				a.feet[i].open = p.Open
			}
		}
		for _, list := range a.requests {
			if err := a.prepare(ctx, contestant, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare compares the answers to the requests of a workload and writes what
// the clients need.
func (a *arena) prepare(ctx context.Context, contestant string, list []request) error {
	for _, mode := range []string{uncached, repeated} {
		if mode == repeated {
			list = first(list, repeatedRequests)
		}
		answers, err := verify(ctx, a.servers[contestant].Address, contestant, mode, list)
		if err != nil {
			return err
		}
		targets := make([]target, len(list))
		for i := range list {
			targets[i] = target{list[i].wire(contestant, mode), len(answers[i])}
			if contestant == ours && mode == uncached {
				list[i].Answer = answers[i]
			}
		}
		if err := writeJSON(a.path(targetsFile(contestant, list[0].Workload, mode)), targets); err != nil {
			return err
		}
	}
	return nil
}

func targetsFile(contestant, workload, mode string) string {
	return contestant + "-" + workload + "-" + mode
}

func (a *arena) startServer(ctx context.Context, contestant string) (*process, error) {
	if contestant == sqlite {
		return startProcess(ctx, a.sqlite, "serve", a.path(sqlite))
	}
	args, err := task(serveTask, serving{Contestant: contestant, Store: a.path(contestant), Requests: a.path("requests")})
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, a.self, args...)
}

// stop stops the servers.
func (a *arena) stop() error {
	var err error
	for _, p := range a.servers {
		err = errors.Join(err, p.stop())
	}
	return err
}

// finish reads what the servers have needed altogether.
func (a *arena) finish(ctx context.Context) error {
	for i, foot := range a.feet {
		s, err := a.stats(ctx, foot.contestant)
		if err != nil {
			return err
		}
		a.feet[i].live, a.feet[i].peak = int64(s.LiveBytes), s.PeakBytes
	}
	return nil
}

func (a *arena) stats(ctx context.Context, contestant string) (stats, error) {
	var s stats
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.servers[contestant].Address+"/stats", nil)
	if err != nil {
		return s, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return s, err
	}
	defer func() { _ = response.Body.Close() }()
	return s, json.NewDecoder(response.Body).Decode(&s)
}

// measure measures one workload with each contestant. Their runs take turns,
// so that what disturbs the machine disturbs all of them.
func (a *arena) measure(ctx context.Context, w workload, mode string, concurrency int) (row, error) {
	list := a.requests[w.name]
	if mode == repeated {
		list = first(list, repeatedRequests)
	}
	r := row{
		corpus: a.corpus.name, mode: mode, workload: w, concurrency: concurrency,
		requests: len(list), of: make(map[string]*figure), ratio: make(map[string]float64),
	}
	for _, x := range list {
		r.bytes += len(x.Answer)
	}
	r.bytes /= len(list)
	runs := make(map[string][]figure)
	for range a.runs {
		for _, contestant := range a.contestants(mode) {
			f, err := a.run(ctx, contestant, targetsFile(contestant, w.name, mode), concurrency)
			if err != nil {
				return r, fmt.Errorf("%s, %s: %w", contestant, w.name, err)
			}
			runs[contestant] = append(runs[contestant], f)
		}
	}
	for contestant, list := range runs {
		r.of[contestant] = medianOf(list)
		// What is done side by side is compared: the machine may have been busier
		// with something else in one turn than in the next.
		ratios := make([]float64, len(list))
		for i := range list {
			ratios[i] = runs[ours][i].perSecond / list[i].perSecond
		}
		r.ratio[contestant] = median(ratios)
	}
	a.note("%s", r.String())
	return r, nil
}

// run lets a client fire at one contestant.
func (a *arena) run(ctx context.Context, contestant, targets string, concurrency int) (figure, error) {
	args, err := task(fireTask, firing{
		Address: a.servers[contestant].Address, Targets: a.path(targets), Concurrency: concurrency,
		Warmup: a.duration / 4, Duration: a.duration,
	})
	if err != nil {
		return figure{}, err
	}
	before, err := a.stats(ctx, contestant)
	if err != nil {
		return figure{}, err
	}
	var f fired
	if err := runProcess(ctx, &f, a.self, args...); err != nil {
		return figure{}, err
	}
	after, err := a.stats(ctx, contestant)
	if err != nil {
		return figure{}, err
	}
	n := float64(f.All)
	return figure{
		perSecond: float64(f.Requests) / f.Elapsed.Seconds(),
		p50:       f.P50,
		p99:       f.P99,
		cpu:       time.Duration(float64(after.CPU-before.CPU) / n),
		allocs:    float64(after.Allocs-before.Allocs) / n,
		bytes:     float64(after.AllocBytes-before.AllocBytes) / n,
	}, nil
}

// medianOf gives the median of each number by itself.
func medianOf(runs []figure) *figure {
	return &figure{
		perSecond: median(each(runs, func(f figure) float64 { return f.perSecond })),
		p50:       median(each(runs, func(f figure) time.Duration { return f.p50 })),
		p99:       median(each(runs, func(f figure) time.Duration { return f.p99 })),
		cpu:       median(each(runs, func(f figure) time.Duration { return f.cpu })),
		allocs:    median(each(runs, func(f figure) float64 { return f.allocs })),
		bytes:     median(each(runs, func(f figure) float64 { return f.bytes })),
	}
}

// each gives one number of each run.
func each[T any](runs []figure, of func(figure) T) []T {
	values := make([]T, len(runs))
	for i, f := range runs {
		values[i] = of(f)
	}
	return values
}

// median gives the middle one of the values, which it sorts.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
