package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/search"
	"incidentgraph/internal/store"
)

// Option changes what New makes.
type Option func(*Ingester)

// WithText makes the ingester keep a text index caught up with the store, in
// the background and whenever a search needs it. The index belongs to the
// ingester from then on, which closes it in Close.
func WithText(x *search.Index) Option {
	return func(in *Ingester) {
		in.text = &textIndex{Index: x, in: in}
		in.text.ctx, in.text.stop = context.WithCancel(context.Background())
	}
}

// ErrNoText says that the ingester was made without a text index.
var ErrNoText = errors.New("there is no text index")

// TextBehindError says that the text index cannot answer yet: it is being made
// anew, which takes longer than a reader would wait.
type TextBehindError struct{ Done, Total int }

// Error tells how far it is.
func (e *TextBehindError) Error() string {
	return fmt.Sprintf("the text index is being made: %d of %d incidents", e.Done, e.Total)
}

const (
	// textBatch is how many incidents one commit of the text index takes. What
	// is made of them until it is written takes some 40 MB; twice as many are
	// not faster.
	textBatch = 500
	// textBatchBytes bounds the records of one commit.
	textBatchBytes = 16 << 20
	// patience is how many incidents a reader waits for; with more to come
	// the text index is behind.
	patience = 5000
)

// textIndex keeps a search.Index caught up with the ingester's state. One run
// at a time brings it to the state of its begin. The index is at a position
// when it has everything that the store had there; what came later may be in
// it, too.
type textIndex struct {
	*search.Index
	in   *Ingester
	ctx  context.Context // of the runs
	stop context.CancelFunc

	mu      sync.Mutex
	run     *textRun // under way, nil if none; guarded by mu, as are the others
	again   bool     // another run is to follow
	damaged bool     // the next run makes the index anew

	// ours tells that the index's position has been found in the store's
	// history: the folder may have been left by another one, such as the one
	// that a backup has taken the place of.
	ours atomic.Bool

	// sets are those for the numbers of the newest state's index, nil as long
	// as nothing was searched.
	sets atomic.Pointer[textSets]
}

// textRun is one run.
type textRun struct {
	over chan struct{} // closed at the end, when err is set
	err  error

	mu          sync.Mutex
	done, total int // incidents; guarded by mu
}

func (r *textRun) progress(done, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.total = done, total
}

// left gives an error where there is more to come than a reader would wait for.
func (r *textRun) left() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total-r.done > patience {
		return &TextBehindError{r.done, r.total}
	}
	return nil
}

// reached tells whether the index is at a position, or after it.
func (x *textIndex) reached(p store.Position) bool {
	if p == (store.Position{}) {
		return true // before any store
	}
	at, ok := decodePosition(x.Position())
	return ok && x.ours.Load() && at.Sequence >= p.Sequence
}

// catchUp begins a run, and another one after the one under way, without
// waiting.
func (x *textIndex) catchUp() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.run != nil {
		x.again = true
		return
	}
	x.begin()
}

// begin begins a run. The caller holds mu, and there is none under way.
func (x *textIndex) begin() *textRun {
	r := &textRun{over: make(chan struct{})}
	anew := x.damaged
	x.run, x.again, x.damaged = r, false, false
	go func() {
		err := x.work(r, anew)
		x.mu.Lock()
		defer x.mu.Unlock()
		r.err, x.run = err, nil
		close(r.over)
		if x.again && err == nil {
			x.begin()
		}
	}()
	return r
}

// reach waits until the index is at a position.
func (x *textIndex) reach(ctx context.Context, p store.Position) error {
	for !x.reached(p) {
		x.mu.Lock()
		r := x.run
		if r == nil {
			r = x.begin()
		}
		x.mu.Unlock()
		if err := r.left(); err != nil {
			return err
		}
		select {
		case <-r.over:
			if r.err != nil {
				return r.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// work brings the index to the ingester's state. Where the index is damaged it
// is made anew, once.
func (x *textIndex) work(r *textRun, anew bool) error {
	if !anew {
		err := x.follow(r)
		if !errors.Is(err, search.ErrCorrupt) {
			return err
		}
	}
	if err := x.Reset(); err != nil {
		return err
	}
	return x.follow(r)
}

// follow takes into the index what changed after its position, or everything
// where the store's history does not lead on from there.
func (x *textIndex) follow(r *textRun) error {
	state := x.in.current.Load()
	if x.reached(state.position) {
		return nil
	}
	at, ok := decodePosition(x.Position())
	var ids []string
	err := store.ErrUnknownPosition
	if ok {
		ids, err = x.in.changed(x.ctx, at, state.position)
	}
	if errors.Is(err, store.ErrUnknownPosition) || errors.Is(err, store.ErrCompacted) {
		if err = x.Reset(); err != nil {
			return err
		}
		at, ids = store.Position{}, x.in.caseIDs(state)
	}
	if err != nil {
		return err
	}
	if at.Sequence < state.position.Sequence || at == (store.Position{}) {
		if err := x.take(r, ids, at, state.position); err != nil {
			return err
		}
	}
	x.ours.Store(true)
	return nil
}

// caseIDs gives the ids of all incidents of a state.
func (in *Ingester) caseIDs(s *state) []string {
	ids := make([]string, 0, s.index.Len())
	for o := range s.index.All().All() {
		ids = append(ids, s.index.CaseID(o))
	}
	slices.Sort(ids)
	return ids
}

// take puts the records with the given ids, as the store has them now, into
// the index, which is at a position, and brings it to another. They go in in
// parts, each from a snapshot of its own, for a snapshot held long keeps the
// store from using its pages again; before the last part is in, the position
// stays what it was.
func (x *textIndex) take(r *textRun, ids []string, from, to store.Position) error {
	total := len(ids)
	for {
		r.progress(total-len(ids), total)
		n, err := x.takePart(ids, from, to)
		if err != nil {
			return err
		}
		if ids = ids[n:]; len(ids) == 0 {
			return nil
		}
	}
}

// takePart takes the first of the ids, and tells how many; with the last one
// it sets the position.
func (x *textIndex) takePart(ids []string, from, to store.Position) (n int, err error) {
	snap, err := x.in.log.Snapshot(x.ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	// Whatever the text index has must have a number in the index before.
	if _, err := x.in.catchUp(x.ctx, snap); err != nil {
		return 0, err
	}
	batch := x.NewBatch()
	bytes := 0
	work := func(id string) sized {
		rec, err := snap.Get(id)
		if errors.Is(err, store.ErrNotFound) {
			return sized{decoded: decoded{record: store.Record{ID: id}}}
		}
		return sized{decode(rec, err), len(rec.Bytes)}
	}
	full := errors.New("full") // ends the part
	err = inOrder(x.ctx, items(ids[:min(len(ids), textBatch)]), work, func(d sized) error {
		switch {
		case d.err != nil:
			return d.err
		case d.incident == nil:
			batch.Delete(d.record.ID)
		default:
			batch.Put(d.incident)
		}
		n++
		if bytes += d.bytes; bytes > textBatchBytes {
			return full
		}
		return nil
	})
	if err != nil && !errors.Is(err, full) {
		return 0, err
	}
	position := encodePosition(from)
	if n == len(ids) {
		position = encodePosition(to)
	}
	return n, batch.Commit(position)
}

// sized is a decoded record with the size of its bytes.
type sized struct {
	decoded
	bytes int
}

// positionBytes is the length of an encoded position: lineage, sequence and
// digest.
const positionBytes = 16 + 8 + 32

// encodePosition writes a position; the zero one, before any store, as nothing.
func encodePosition(p store.Position) []byte {
	if p == (store.Position{}) {
		return nil
	}
	b := append(make([]byte, 0, positionBytes), p.Lineage[:]...)
	b = binary.BigEndian.AppendUint64(b, p.Sequence)
	return append(b, p.Digest[:]...)
}

// decodePosition reads a position; false where there is none.
func decodePosition(b []byte) (p store.Position, ok bool) {
	if len(b) != positionBytes {
		return p, false
	}
	copy(p.Lineage[:], b)
	p.Sequence = binary.BigEndian.Uint64(b[16:])
	copy(p.Digest[:], b[24:])
	return p, true
}

// close ends the run under way and closes the index.
func (x *textIndex) close() error {
	x.stop()
	x.mu.Lock()
	x.again = false
	r := x.run
	x.mu.Unlock()
	if r != nil {
		<-r.over
	}
	defer x.sets.Store(nil)
	return x.Close()
}

// Close ends what the ingester does in the background. Nothing may use the
// ingester after it, nor views that are still open their texts.
func (in *Ingester) Close() error {
	if in.text == nil {
		return nil
	}
	return in.text.close()
}

// Search searches the texts of incidents, and the names of orgs and terms. It
// waits for the text index to be at the view's state; hits that came later are
// left out. The numbers that o.Keep gets are those of the view's index. The
// error is ErrNoText, a *TextBehindError, or that of ctx.
func (v *View) Search(ctx context.Context, q search.Query, o search.Options) (r *search.Result, err error) {
	if o.Keep == nil {
		here := v.state.index.All()
		o.Keep = func(number uint32) bool { return here.Has(index.Ord(number)) }
	}
	err = v.withText(ctx, func(x *textIndex) (err error) {
		r, err = x.setsFor(v.state).reader.Search(ctx, q, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Hits = slices.DeleteFunc(r.Hits, func(h search.Hit) bool { return !v.has(h) })
	r.ExpandedWith = slices.DeleteFunc(r.ExpandedWith, func(t incident.Term) bool {
		_, ok := v.state.index.LookupTerm(t)
		return !ok
	})
	return r, nil
}

// has tells whether the view's state has what a hit is.
func (v *View) has(h search.Hit) (ok bool) {
	switch h.Kind {
	case search.KindOrg:
		_, ok = v.state.index.LookupOrg(h.ID)
	case search.KindTerm:
		_, ok = v.state.index.LookupTerm(h.Term())
	default:
		ok = v.state.index.Lookup(h.ID) != nil
	}
	return ok
}

// MatchText gives all incidents of the view's state whose texts have everything
// that a query asks for, which search.ParseQuery reads. Errors are those of
// Search.
func (v *View) MatchText(ctx context.Context, query string) (set index.Set, err error) {
	newest := false
	err = v.withText(ctx, func(x *textIndex) (err error) {
		set, err = x.setsFor(v.state).matchText(ctx, query)
		// Nothing gets into the text index before the state has it. So, as
		// long as there is no newer state, it has nothing that this one lacks.
		newest = x.in.current.Load() == v.state
		return err
	})
	if err != nil || newest {
		return set, err
	}
	return set.And(v.state.index.All()), nil
}

// setsFor gives the sets for the numbers of a state. Those for an index that
// was replaced are not kept: few views have it any more.
func (x *textIndex) setsFor(s *state) *textSets {
	kept, numbers := x.sets.Load(), s.index.Numbers()
	if kept != nil && kept.numbers == numbers {
		return kept
	}
	sets := newTextSets(x.Index, numbers)
	if x.in.current.Load().index.Numbers() == numbers && !x.sets.CompareAndSwap(kept, sets) {
		return x.setsFor(s) // others have made them
	}
	return sets
}

// withText does something with the text index at the view's state. Where that
// shows the index to be damaged, it is made anew.
func (v *View) withText(ctx context.Context, do func(*textIndex) error) error {
	x := v.text
	if x == nil {
		return ErrNoText
	}
	if err := x.reach(ctx, v.state.position); err != nil {
		return err
	}
	err := do(x)
	if errors.Is(err, search.ErrCorrupt) {
		x.mu.Lock()
		x.damaged = true
		x.mu.Unlock()
		x.catchUp()
	}
	return err
}

// Highlight shows where a query stands in an incident; see search.Highlight.
func (v *View) Highlight(inc *incident.Incident, q search.Query, languages ...string) []search.Highlight {
	if v.text == nil {
		return nil
	}
	return v.text.Highlight(inc, q, languages...)
}

// HighlightText shows where a query stands in one text, false where it does
// not.
func (v *View) HighlightText(q search.Query, f search.Field, language, text string) (search.Highlight, bool) {
	if v.text == nil {
		return search.Highlight{}, false
	}
	return v.text.HighlightText(q, f, language, text)
}
