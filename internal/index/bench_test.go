package index_test

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

var million = flag.Bool("million", false, "benchmark indexes of a million incidents, too")

// corpora are made once for all benchmarks.
var corpora struct {
	sync.Mutex
	by map[int]*corpus
}

type corpus struct {
	list  []*incident.Incident
	index *index.Index
	s     *index.Snapshot
}

// eachSize runs a benchmark on corpora of several sizes.
func eachSize(b *testing.B, f func(b *testing.B, c *corpus)) {
	sizes := []int{1000, 10_000, 100_000}
	if *million {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c := corpusOf(n)
			b.ReportAllocs()
			b.ResetTimer()
			f(b, c)
		})
	}
}

func corpusOf(n int) *corpus {
	corpora.Lock()
	defer corpora.Unlock()
	if c := corpora.by[n]; c != nil {
		return c
	}
	c := &corpus{list: fixture.Incidents(1, n), index: index.New(nil)}
	c.s = load(c.index, c.list)
	if corpora.by == nil {
		corpora.by = make(map[int]*corpus)
	}
	corpora.by[n] = c
	return c
}

// load makes the index of a list, as it is made of a store.
func load(x *index.Index, list []*incident.Incident) *index.Snapshot {
	b := x.Batch()
	for _, inc := range list {
		b.Put(inc, 1, 1)
	}
	b.Arrange()
	return b.Commit(1)
}

func BenchmarkLoad(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		for b.Loop() {
			load(index.New(nil), c.list)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.list)), "ns/incident")
	})
}

// BenchmarkPut replaces one incident in a batch of its own.
func BenchmarkPut(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		x := index.New(nil)
		load(x, c.list)
		other := fixture.Incidents(2, min(len(c.list), 1000))
		i := 0
		for b.Loop() {
			batch := x.Batch()
			batch.Put(other[i%len(other)], 2, uint64(i))
			batch.Commit(uint64(i))
			i++
		}
	})
}

// BenchmarkPutThenPage also asks each new snapshot for its newest incidents.
func BenchmarkPutThenPage(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		x := index.New(nil)
		s := load(x, c.list)
		s.Page(s.All(), nil, index.PageArgs{First: 20, Last: -1})
		other := fixture.Incidents(2, min(len(c.list), 1000))
		i := 0
		for b.Loop() {
			batch := x.Batch()
			batch.Put(other[i%len(other)], 2, uint64(i))
			s = batch.Commit(uint64(i))
			s.Page(s.All(), nil, index.PageArgs{First: 20, Last: -1})
			i++
		}
	})
}

// BenchmarkFilteredPage finds the newest 20 incidents with a factor and a
// component, and the total, over pairs of all frequencies.
func BenchmarkFilteredPage(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		filters := make([]index.Filter, 100)
		r := newRand(1)
		for i := range filters {
			inc := c.list[r.IntN(len(c.list))]
			filters[i].Terms[incident.ContributingFactor] = &index.TermFilter{Any: []string{inc.Contributing[0].Slug}}
			filters[i].Terms[incident.Component] = &index.TermFilter{Any: []string{inc.Components[0].Slug}}
		}
		args := index.PageArgs{First: 20, Last: -1}
		c.s.Page(c.s.All(), nil, args)
		i, found := 0, 0
		for b.Loop() {
			set, err := c.s.Select(&filters[i%len(filters)])
			if err != nil {
				b.Fatal(err)
			}
			found += set.Len() + len(c.s.Page(set, nil, args).Nodes)
			i++
		}
		if found == 0 {
			b.Fatal("nothing found")
		}
	})
}

// BenchmarkNested looks up what a case page shows: the incidents that share
// its components and factors, five each, and its links.
func BenchmarkNested(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		args := index.PageArgs{First: 5, Last: -1}
		c.s.Page(c.s.All(), nil, args)
		r := newRand(1)
		for b.Loop() {
			n := c.s.Lookup(fixture.CaseID(r.IntN(len(c.list))))
			for _, v := range []incident.Vocabulary{incident.Component, incident.ContributingFactor} {
				for _, t := range n.Terms(v) {
					c.s.Page(c.s.Postings(t), nil, args)
				}
			}
			c.s.Related(n)
			c.s.RecurrenceOf(n)
			c.s.Org(n.Org)
		}
	})
}

// firstOfChain asks for what a page shows of a chain.
func firstOfChain(c *index.Chain) (found int) {
	if c != nil {
		for i := range min(c.Size, 50) {
			found += c.Depth() + c.Member(i).Depth
		}
	}
	return found
}

func BenchmarkChain(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		r := newRand(1)
		for b.Loop() {
			firstOfChain(c.s.Chain(c.s.Lookup(fixture.CaseID(r.IntN(len(c.list))))))
		}
	})
}

// BenchmarkChainOf10k walks one chain of 10,000 cases.
func BenchmarkChainOf10k(b *testing.B) {
	var list []*incident.Incident
	for i := range 10_000 {
		list = append(list, &incident.Incident{ID: fixture.CaseID(i), RecurrenceOf: fixture.CaseID(i - 1)})
	}
	s := load(index.New(nil), list)
	n := s.Lookup(fixture.CaseID(5000))
	b.ReportAllocs()
	for b.Loop() {
		firstOfChain(s.Chain(n))
	}
}

// BenchmarkFirstUse measures what a snapshot computes once.
func BenchmarkFirstUse(b *testing.B) {
	for _, tt := range []struct {
		name string
		use  func(s *index.Snapshot)
	}{
		{"date", func(s *index.Snapshot) { s.Page(s.All(), nil, index.PageArgs{First: 1, Last: -1}) }},
		{"links", func(s *index.Snapshot) {
			s.Page(s.All(), []index.Order{{Field: index.ByLinkCount}}, index.PageArgs{First: 1, Last: -1})
		}},
		{"date and links", func(s *index.Snapshot) {
			by := []index.Order{{Field: index.ByDate}, {Field: index.ByLinkCount}}
			s.Page(s.All(), by, index.PageArgs{First: 1, Last: -1})
		}},
		{"chains", func(s *index.Snapshot) { s.Chains(2, s.All()) }},
		{"terms", func(s *index.Snapshot) { s.Terms(0) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			eachSize(b, func(b *testing.B, c *corpus) {
				for b.Loop() {
					b.StopTimer()
					x := index.New(nil)
					s := load(x, c.list)
					b.StartTimer()
					tt.use(s)
				}
			})
		})
	}
}

// BenchmarkMemory reports what an index keeps, and how much of that titles are.
func BenchmarkMemory(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		titles := 0
		for _, inc := range c.list {
			for _, t := range inc.Title {
				titles += len(t.Text)
			}
		}
		for b.Loop() {
			before := inUse()
			x := index.New(nil)
			s := load(x, c.list)
			loaded := inUse()
			s.Page(s.All(), nil, index.PageArgs{First: 1, Last: -1})
			ordered := inUse()
			n := float64(len(c.list))
			b.ReportMetric(float64(loaded-before-titles)/n, "B/incident")
			b.ReportMetric(float64(ordered-loaded)/n, "B/incident-for-order")
			b.ReportMetric(float64(titles)/n, "title-B/incident")
			runtime.KeepAlive(x)
		}
	})
}

func inUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
