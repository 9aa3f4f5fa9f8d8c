package search

import (
	"cmp"
	"slices"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// maxMemorySegments bounds the segments of an index in memory. The engine
// merges segments on disk only, and every commit adds one.
const maxMemorySegments = 16

// compact makes one segment of the smaller half where there are too many, so
// that a document is moved a number of times that grows with the logarithm of
// their number only. The documents are read back from the segments and put in
// again; the engine drops a segment without documents.
func (ix *Index) compact() error {
	v, err := ix.snapshot()
	if err != nil {
		return err
	}
	defer v.close()
	segments := slices.Clone(v.Segments())
	if len(segments) <= maxMemorySegments {
		return nil
	}
	slices.SortStableFunc(segments, func(a, b *scorch.SegmentSnapshot) int { return cmp.Compare(a.Count(), b.Count()) })
	batch := index.NewBatch()
	for _, s := range segments[:maxMemorySegments/2+1] {
		docs, err := documentsOf(s)
		if err != nil {
			return err
		}
		for _, d := range docs {
			batch.Update(d)
		}
	}
	return ix.engine.Batch(batch)
}

// documentsOf reads the documents of a segment back.
func documentsOf(s *scorch.SegmentSnapshot) (map[uint64]*document, error) {
	docs := make(map[uint64]*document)
	for it := s.DocNumbersLive().Iterator(); it.HasNext(); {
		n := uint64(it.Next())
		id, err := s.DocID(n)
		if err != nil {
			return nil, err
		}
		d := &document{id: string(id)}
		docs[n] = d
		err = s.VisitDocument(n, func(name string, _ byte, value []byte, _ []uint64) bool {
			if name == formsField {
				d.fields = append(d.fields, &field{name: name, options: index.StoreField, value: slices.Clone(value)})
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	for _, name := range []string{textField, headField, nameField, wholeField, keyField} {
		if err := readBack(s, name, docs); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// readBack adds a field to the documents of a segment that have it.
func readBack(s *scorch.SegmentSnapshot, name string, docs map[uint64]*document) error {
	placed := name == textField || name == nameField
	options := keyOptions
	if placed {
		options = placedOptions
	}
	fields := make(map[uint64]*field)
	dictionary, err := s.Segment().Dictionary(name)
	if err != nil {
		return err
	}
	terms := dictionary.AutomatonIterator(nil, nil, nil)
	entry, err := terms.Next()
	for ; err == nil && entry != nil; entry, err = terms.Next() {
		list, err := dictionary.PostingsList([]byte(entry.Term), s.Deleted(), nil)
		if err != nil {
			return err
		}
		it := list.Iterator(placed, placed, placed, nil)
		p, err := it.Next()
		for ; err == nil && p != nil; p, err = it.Next() {
			f := fields[p.Number()]
			if f == nil {
				f = &field{name: name, options: options, terms: make(index.TokenFrequencies)}
				fields[p.Number()] = f
				docs[p.Number()].fields = append(docs[p.Number()].fields, f)
			}
			if placed {
				f.length = lengthOf(p)
			}
			f.terms[entry.Term] = frequencyOf(entry.Term, p)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func frequencyOf(term string, p segment.Posting) *index.TokenFreq {
	f := &index.TokenFreq{Term: []byte(term)}
	f.SetFrequency(int(p.Frequency()))
	for _, l := range p.Locations() {
		f.Locations = append(f.Locations, &index.TokenLocation{Position: int(l.Pos())})
	}
	return f
}
