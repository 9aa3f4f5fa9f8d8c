package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Numbers gives numbers to case ids, dense ones from 0 up. Neither the number
// of an id nor the id of a number ever changes.
type Numbers interface {
	// Number finds the number of an id, false where it has none. It must have
	// one before an incident with it is put into the index.
	Number(caseID string) (number uint32, ok bool)
	// CaseID gives the id that has a number.
	CaseID(number uint32) string
}

// Reader answers queries over an index in numbers of its user's, which make
// sets of incidents where ids make lists. It knows which document has which
// number: 12 bytes an incident, which it reads from each segment of the index
// once, when it is first needed. Incidents without a number it leaves out. It
// is safe for concurrent use.
type Reader struct {
	index   *Index
	numbers Numbers

	taking sync.Mutex
	taken  uint64 // states taken so far; guarded by taking

	mapping    sync.Mutex // guards what follows
	generation uint64     // of the index
	newest     uint64     // the newest state that tables and places were right for
	tables     []*table   // of the segments, in their order
	places     []location // by number, of the documents that are not deleted
}

// table holds the numbers of the documents of a segment, which never change.
type table struct {
	segment uint64
	numbers []uint32 // noNumber for those of forms and those without one
}

// has tells whether a document has a number.
func (t *table) has(doc, number uint32) bool {
	return int(doc) < len(t.numbers) && t.numbers[doc] == number
}

const noNumber = ^uint32(0)

// location is where an incident's document is. That of an incident which is
// deleted may be out of date, which the table there tells.
type location struct {
	segment uint64
	doc     uint32
}

// NewReader makes a reader.
func NewReader(ix *Index, numbers Numbers) *Reader { return &Reader{index: ix, numbers: numbers} }

// ErrStale says that a State is older than what was found with another one.
var ErrStale = errors.New("there is a newer state of the search index")

// State is one state of the index.
type State struct {
	view   *view
	reader *Reader
	ctx    context.Context // of the call of Read
	number uint64          // in the order in which states were taken
	tables []*table        // by segment, nil as long as they are not needed
}

// Read calls f with the newest state of the index, which is good until f
// returns. Where f returns ErrStale, which methods of State may give it, it is
// called again with a newer one. f must not use the index itself. The error is
// that of f, of the context, ErrClosed or ErrCorrupt.
func (r *Reader) Read(ctx context.Context, f func(*State) error) error {
	for {
		switch err := r.read(ctx, f); {
		case err == nil:
			return nil
		case !errors.Is(err, ErrStale):
			return fmt.Errorf("search: %w", readError(ctx, err))
		}
	}
}

func (r *Reader) read(ctx context.Context, f func(*State) error) (err error) {
	r.index.life.RLock()
	defer r.index.life.RUnlock()
	s, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer s.view.close()
	defer recoverDamage(&err)
	return f(s)
}

// take takes the newest state.
func (r *Reader) take(ctx context.Context) (*State, error) {
	r.taking.Lock()
	defer r.taking.Unlock()
	v, err := r.index.snapshot()
	if err != nil {
		return nil, err
	}
	r.taken++
	return &State{view: v, reader: r, ctx: ctx, number: r.taken}, nil
}

// Commit is the number of the commit that led to the state. States with the
// same one have the same documents.
func (s *State) Commit() uint64 { return s.view.commits() }

// ChangedSince gives the ids of the incidents that commits changed after the
// one with a number; false where that is long ago.
func (s *State) ChangedSince(commit uint64) ([]string, bool) {
	return s.reader.index.recent.between(commit, s.Commit())
}

// open makes the tables ready. It gives ErrStale where those of a newer state
// are, before anything was found.
func (s *State) open() error {
	if s.tables != nil {
		return nil
	}
	r := s.reader
	r.mapping.Lock()
	defer r.mapping.Unlock()
	if r.generation != s.view.generation {
		r.generation, r.tables, r.places = s.view.generation, nil, nil
	}
	if !r.fits(s.view) {
		if s.number < r.newest {
			return ErrStale
		}
		if err := r.follow(s.view); err != nil {
			return err
		}
	}
	r.newest = max(r.newest, s.number)
	s.tables = r.tables
	return nil
}

// fits tells whether the tables are those of a state's segments.
func (r *Reader) fits(v *view) bool {
	return slices.EqualFunc(r.tables, v.Segments(), func(t *table, s *scorch.SegmentSnapshot) bool { return t.segment == s.Id() })
}

// follow reads the segments that the tables lack. The places of documents that
// were moved are overwritten: of those with one number a single one is not
// deleted.
func (r *Reader) follow(v *view) error {
	have := make(map[uint64]*table, len(r.tables))
	for _, t := range r.tables {
		have[t.segment] = t
	}
	tables := make([]*table, len(v.Segments()))
	for i, seg := range v.Segments() {
		if tables[i] = have[seg.Id()]; tables[i] != nil {
			continue
		}
		numbers, err := r.readNumbers(seg)
		if err != nil {
			return err
		}
		tables[i] = &table{seg.Id(), numbers}
	}
	for i, seg := range v.Segments() { // all are read: from here on nothing can fail
		if have[seg.Id()] == nil {
			r.locate(tables[i], seg.Deleted())
		}
	}
	r.tables = tables
	return nil
}

// readNumbers reads the numbers of a segment's documents.
func (r *Reader) readNumbers(s *scorch.SegmentSnapshot) ([]uint32, error) {
	numbers := make([]uint32, s.FullSize())
	ends := make([]int, len(numbers))
	var all strings.Builder // one allocation for many ids
	for doc := range numbers {
		id, err := s.DocID(uint64(doc))
		if err != nil {
			return nil, err
		}
		all.Write(id)
		ends[doc] = all.Len()
	}
	start := 0
	for doc, end := range ends {
		numbers[doc] = noNumber
		if id := all.String()[start:end]; id != "" && id[0] == incidentKey {
			if n, ok := r.numbers.Number(id[1:]); ok {
				numbers[doc] = n
			}
		}
		start = end
	}
	return numbers, nil
}

// locate notes where the documents of a table are.
func (r *Reader) locate(t *table, deleted *roaring.Bitmap) {
	for doc, n := range t.numbers {
		if n == noNumber || deleted != nil && deleted.Contains(uint32(doc)) {
			continue
		}
		if int(n) >= len(r.places) {
			r.places = slices.Grow(r.places, int(n)+1-len(r.places))[:n+1]
		}
		r.places[n] = location{t.segment, uint32(doc)}
	}
}
