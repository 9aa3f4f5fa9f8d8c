package search

import (
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// idTables keeps the ids of the documents of each segment at hand: a search
// within a set asks for tens of thousands.
type idTables struct {
	mutex sync.Mutex
	by    map[uint64]*idTable // by number of the segment; guarded by mutex
}

// idTable holds the ids of the documents of one segment, which never change.
type idTable struct {
	all  string
	ends []uint32
}

// id gives the id of a document.
func (t *idTable) id(doc uint32) string {
	if doc == 0 {
		return t.all[:t.ends[0]]
	}
	return t.all[t.ends[doc-1]:t.ends[doc]]
}

// of gives the table of a segment of a view. Those of segments that the view
// does not have are let go.
func (t *idTables) of(v *view, s *scorch.SegmentSnapshot) (*idTable, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if table := t.by[s.Id()]; table != nil {
		return table, nil
	}
	for number := range t.by {
		if !slices.ContainsFunc(v.Segments(), func(s *scorch.SegmentSnapshot) bool { return s.Id() == number }) {
			delete(t.by, number)
		}
	}
	table, err := readIDs(s)
	if err != nil {
		return nil, err
	}
	if t.by == nil {
		t.by = make(map[uint64]*idTable)
	}
	t.by[s.Id()] = table
	return table, nil
}

func readIDs(s *scorch.SegmentSnapshot) (*idTable, error) {
	var all strings.Builder
	t := &idTable{ends: make([]uint32, s.FullSize())}
	for i := range t.ends {
		id, err := s.DocID(uint64(i))
		if err != nil {
			return nil, err
		}
		all.Write(id)
		t.ends[i] = uint32(all.Len())
	}
	t.all = all.String()
	return t, nil
}

// clear forgets all tables.
func (t *idTables) clear() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	clear(t.by)
}
