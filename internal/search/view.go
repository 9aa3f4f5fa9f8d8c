package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// view is one state of the index, unchanged until it is closed.
type view struct {
	*scorch.IndexSnapshot
	// generation tells apart segments from before and after a Reset, which
	// have the same numbers.
	generation uint64
}

// snapshot gives a view of the newest state. The caller holds life.
func (ix *Index) snapshot() (*view, error) {
	if ix.engine == nil {
		return nil, ErrClosed
	}
	r, err := ix.engine.Reader()
	if err != nil {
		return nil, err
	}
	return &view{r.(*scorch.IndexSnapshot), ix.generation}, nil
}

// close releases the view, and with it all memory that came from it.
func (v *view) close() { _ = v.Close() }

// commits gives the number of commits that led here.
func (v *view) commits() uint64 {
	b := v.Internal()[string(commitsKey)]
	if len(b) != 8 {
		return 0 // of an index that did not count them, or without any
	}
	return binary.BigEndian.Uint64(b)
}

// postings gives the documents of a segment with a term; deleted ones are
// left out of everything that the list gives.
func postings(s *scorch.SegmentSnapshot, field, term string) (segment.PostingsList, error) {
	dictionary, err := s.Segment().Dictionary(field)
	if err != nil {
		return nil, err
	}
	return dictionary.PostingsList([]byte(term), s.Deleted(), nil)
}

// documents gives the documents of a list. The caller must not change them.
func documents(list segment.PostingsList) *roaring.Bitmap {
	it := list.Iterator(false, false, false, nil).(segment.OptimizablePostingsIterator)
	if one, ok := it.DocNum1Hit(); ok {
		return roaring.BitmapOf(uint32(one))
	}
	if docs := it.ActualBitmap(); docs != nil {
		return docs
	}
	return roaring.New()
}

// count gives the number of documents with a term.
func (v *view) count(field, term string) (int, error) {
	n := 0
	for _, s := range v.Segments() {
		list, err := postings(s, field, term)
		if err != nil {
			return 0, err
		}
		n += int(list.Count())
	}
	return n, nil
}

// lengthOf gives the number of tokens of the document that a posting is of. The
// engine keeps the number and gives it as 1/√length in a float32, which is
// exact enough to round; its own kind of posting gives it as it is.
func lengthOf(p segment.Posting) int {
	if exact, ok := p.(interface{ NormUint64() uint64 }); ok {
		return int(exact.NormUint64())
	}
	n := p.Norm()
	return int(math.Round(1 / (n * n)))
}

// readError says of an error of the engine while it reads that the index is
// damaged: there is no other reason for one.
func readError(ctx context.Context, err error) error {
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrCorrupt) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// recoverDamage turns a panic over damaged bytes into an error. The engine
// reads mapped files without checking what it reads.
func recoverDamage(err *error) {
	r := recover()
	if r == nil {
		return
	}
	if _, ok := r.(runtime.Error); !ok {
		panic(r)
	}
	*err = fmt.Errorf("%w: %v", ErrCorrupt, r)
}
