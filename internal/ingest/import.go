package ingest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/store"
)

// OnError says what a bad record does to an import.
type OnError uint8

// The choices.
const (
	// Stop: a run with any bad record stores nothing.
	Stop OnError = iota
	// Skip: the good records are stored, the bad ones reported.
	Skip
)

// Options of an import.
type Options struct {
	OnError OnError
	DryRun  bool
	Actor   string
	Now     func() time.Time // nil: time.Now
	// SpoolDir is where a run that does not fit in memory keeps its records
	// until it stores them; "" is the system's folder for temporary files.
	SpoolDir string
	// OnReject is called for each bad record: first, while the input is read
	// and in its order, for those that are bad by themselves; then for those
	// that close a cycle, in the order in which cycles are found. Raw is valid
	// during the call only.
	OnReject func(r Reject)
	// OnPassedOver may be nil; it is called for each file of a folder that
	// holds no JSON.
	OnPassedOver func(file string)
	// OnProgress may be nil; called now and then.
	OnProgress func(p Progress)
}

// Reject is a record that was not taken.
type Reject struct {
	File string // as given, with the member of an archive or folder
	Line int    // 1-based line where the record begins
	Err  error  // *incident.Error or *CycleError
	Raw  []byte // nil where the record is too large, or is none; compact with a *CycleError
}

// Progress of an import.
type Progress struct {
	Report
	BytesRead, BytesTotal int64 // BytesTotal is 0 where unknown
	// Stored of ToStore records are committed. Both are 0 until all is read.
	Stored, ToStore int
}

// Report counts what an import did, or would do. Read = Created + Updated +
// Unchanged + Rejected.
type Report struct {
	Read, Created, Updated, Unchanged, Rejected int
}

// Import reads all records of the sources and stores them. The format is
// found by content: one JSON object, a JSON array, JSON Lines, each also gzip-
// or zstd-compressed. Sources are read and, where they can be, closed one
// after the other.
//
// Whether records close a cycle of recurrence_of is judged by what the store
// would hold in the end, so their order in the input does not matter, and a
// later record may mend what an earlier one with its id has broken. From each
// cycle the last record in the input is rejected, with those that only repeat
// it; what the record was to replace counts again.
//
// Bad records are no error: they are reported and counted, also those of a
// run that therefore stores nothing. After an error the report counts what
// was read, and of what was to be stored only what has been. The index
// catches up with the next View or CatchUp.
func (in *Ingester) Import(ctx context.Context, sources []Source, o Options) (report Report, err error) {
	view, err := in.View(ctx)
	if err != nil {
		return Report{}, err
	}
	r := &run{in: in, options: o, spool: &spool{dir: o.SpoolDir}}
	defer func() { err = errors.Join(err, r.spool.close()) }()
	r.plan = newPlan(view, r.spool)
	if err = r.read(ctx, sources); err == nil {
		err = r.settle()
	}
	view.Close()
	switch {
	case err != nil:
		r.forget()
	case o.DryRun || o.OnError == Stop && r.report.Rejected > 0:
	default:
		err = r.store(ctx, view.Position())
	}
	return r.report, err
}

// run is one import under way.
type run struct {
	in      *Ingester
	options Options
	spool   *spool
	plan    *plan
	report  Report

	bytesRead       atomic.Int64
	bytesTotal      int64
	stored, toStore int
}

// chunk is some consecutive elements of one source, the unit of parallel
// work. Chunks are used again, with their memory.
type chunk struct {
	source     *input
	passedOver bool // the source holds no JSON, and need not
	elements   []element
	places     []int  // where the elements begin in raw
	raw        []byte // of the elements, one after the other
	compact    []byte // of the records, likewise
	records    []record
}

// input is a source being read.
type input struct {
	name string
	// broken tells that what comes now cannot be trusted.
	broken atomic.Bool
}

// record is an element that was looked into.
type record struct {
	id, recurrenceOf string
	compact          []byte
	err              *incident.Error
}

const (
	chunkElements = 64
	chunkBytes    = 256 << 10
)

// read reads all sources into the plan.
func (r *run) read(ctx context.Context, sources []Source) error {
	for _, s := range sources {
		if s.Size == 0 {
			r.bytesTotal = 0
			break
		}
		r.bytesTotal += s.Size
	}
	free := make(chan *chunk, 64)
	return inOrder(ctx, r.chunks(ctx, sources, free), decodeChunk, func(c *chunk) error {
		if err := r.take(c); err != nil {
			return err
		}
		select {
		case free <- c:
		default:
		}
		return nil
	})
}

// chunks yields the elements of all sources.
func (r *run) chunks(ctx context.Context, sources []Source, free <-chan *chunk) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		for _, s := range sources {
			err := r.readSource(ctx, s, free, func(c *chunk) bool { return yield(c, nil) })
			if closer, ok := s.Reader.(io.Closer); ok {
				err = errors.Join(err, closer.Close())
			}
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", s.Name, err))
				return
			}
		}
	}
}

// errEnough ends the reading of sources.
var errEnough = errors.New("no more is wanted")

// readSource yields the elements of one source.
func (r *run) readSource(ctx context.Context, source Source, free <-chan *chunk, yield func(*chunk) bool) error {
	reader := source.Reader
	if source.waits {
		reader = newInterruptible(ctx, reader)
	}
	counted := &counter{reader: reader, count: func(n int) { r.bytesRead.Add(int64(n)) }}
	in := &input{name: source.Name}
	split, err := newSplitter(counted)
	defer func() { split.close() }()
	for {
		c := newChunk(in, free)
		for err == nil && !c.full() && !in.broken.Load() {
			var e element
			if e, err = split.next(); err == nil {
				c.add(e)
			}
		}
		switch {
		case counted.err != nil:
			return counted.err
		case errors.Is(err, errNoRecords) && source.Found:
			c.passedOver = true
		case err != nil && !errors.Is(err, io.EOF):
			c.add(unreadable(split.line, err))
		}
		if !yield(c) {
			return errEnough
		}
		if err != nil || in.broken.Load() {
			return nil
		}
	}
}

// unreadable makes an element of what cannot be read, which only the content
// of the source is to blame for.
func unreadable(line int, err error) element {
	reason := "not JSON: " + err.Error()
	if !errors.Is(err, errNoRecords) {
		reason = "the compressed data is damaged: " + err.Error()
	}
	return element{line: line, unframed: true, err: &incident.Error{Code: incident.NotJSON, Offset: -1, Reason: reason}}
}

func newChunk(in *input, free <-chan *chunk) *chunk {
	select {
	case c := <-free:
		*c = chunk{source: in, elements: c.elements[:0], places: c.places[:0], raw: c.raw[:0], compact: c.compact[:0], records: c.records[:0]}
		return c
	default:
		return &chunk{source: in}
	}
}

func (c *chunk) full() bool { return len(c.elements) >= chunkElements || len(c.raw) >= chunkBytes }

func (c *chunk) add(e element) {
	c.elements = append(c.elements, e)
	c.places = append(c.places, len(c.raw))
	c.raw = append(c.raw, e.raw...)
}

// decodeChunk looks into the elements of a chunk.
func decodeChunk(c *chunk) *chunk {
	if cap(c.compact) < len(c.raw) {
		c.compact = make([]byte, 0, cap(c.raw))
	}
	for i := range c.elements {
		e := &c.elements[i]
		if e.raw != nil {
			e.raw = c.raw[c.places[i] : c.places[i]+len(e.raw)]
		}
		if e.err != nil {
			c.records = append(c.records, record{err: e.err})
			continue
		}
		inc, err := incident.Decode(e.raw)
		if err != nil {
			var bad *incident.Error
			errors.As(err, &bad)
			c.records = append(c.records, record{err: bad})
			continue
		}
		start := len(c.compact)
		c.compact = incident.AppendCompact(c.compact, e.raw)
		c.records = append(c.records, record{
			// Clones: the incident's strings would keep the whole record.
			id:           strings.Clone(inc.ID),
			recurrenceOf: strings.Clone(inc.RecurrenceOf),
			compact:      c.compact[start:len(c.compact):len(c.compact)],
		})
	}
	return c
}

// take judges the records of a chunk.
func (r *run) take(c *chunk) error {
	if c.passedOver && r.options.OnPassedOver != nil {
		r.options.OnPassedOver(c.source.name)
	}
	for i, rec := range c.records {
		if c.source.broken.Load() {
			break
		}
		e := c.elements[i]
		r.report.Read++
		if rec.err != nil {
			r.reject(Reject{File: c.source.name, Line: e.line, Err: rec.err, Raw: e.raw})
			if e.unframed && rec.err.Code == incident.NotJSON {
				c.source.broken.Store(true)
			}
			continue
		}
		v := version{id: rec.id, recurrenceOf: rec.recurrenceOf, compact: rec.compact,
			place: place{r.plan.file(c.source.name), e.line}}
		if err := r.consider(v); err != nil {
			return err
		}
	}
	r.progress()
	return nil
}

// version is a valid record before it is judged.
type version struct {
	id, recurrenceOf string
	compact          []byte
	place            place
	at               span    // in the spool; empty while it is not there
	repeats          []place // the records that were the same
}

// consider judges one record, and adds it to the plan where it is to be stored.
func (r *run) consider(v version) error {
	becomes, err := r.plan.judge(v.id, v.compact)
	if err != nil {
		return err
	}
	r.report.count(becomes, 1)
	if becomes == unchanged {
		if before := r.plan.latest[r.plan.cases.find(v.id)]; before != nil {
			r.plan.repeats[before] = append(append(r.plan.repeats[before], v.place), v.repeats...)
		}
		return nil
	}
	if v.at.size == 0 {
		if v.at, err = r.spool.add(v.compact); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	c := r.plan.newCandidate()
	*c = candidate{id: r.plan.number(v.id), recurrenceOf: r.plan.number(v.recurrenceOf), place: v.place, at: v.at, outcome: becomes}
	r.plan.accept(c)
	if v.repeats != nil {
		r.plan.repeats[c] = v.repeats
	}
	return nil
}

// settle rejects the records that close a cycle.
func (r *run) settle() error {
	before := r.report.Rejected
	err := r.plan.settle(func(c *candidate, cycle []string) error {
		raw, err := r.spool.appendTo(nil, c.at)
		if err != nil {
			return fmt.Errorf("spool: %w", err)
		}
		bad := Reject{
			File: r.plan.files[c.place.file], Line: c.place.line,
			Err: &CycleError{CaseID: r.plan.cases.name(c.id), Cycle: cycle}, Raw: raw,
		}
		r.report.count(c.outcome, -1)
		r.reject(bad)
		for _, again := range r.plan.repeats[c] {
			bad.File, bad.Line = r.plan.files[again.file], again.line
			r.report.count(unchanged, -1)
			r.reject(bad)
		}
		return nil
	})
	if r.report.Rejected > before {
		r.progress()
	}
	return err
}

func (r *run) reject(bad Reject) {
	r.report.Rejected++
	if r.options.OnReject != nil {
		r.options.OnReject(bad)
	}
}

func (r *run) progress() {
	if r.options.OnProgress != nil {
		r.options.OnProgress(Progress{Report: r.report, BytesRead: r.bytesRead.Load(), BytesTotal: r.bytesTotal,
			Stored: r.stored, ToStore: r.toStore})
	}
}

// forget takes out of the report what was not stored.
func (r *run) forget() {
	for _, c := range r.plan.versions() {
		r.report.count(c.outcome, -1)
	}
}

// store commits the plan, batch by batch.
func (r *run) store(ctx context.Context, base store.Position) (err error) {
	now := r.options.Now
	if now == nil {
		now = time.Now
	}
	r.plan.arrange()
	r.toStore = len(r.plan.queue)
	request := rand.Text()
	var buf []byte
	for n := 1; len(r.plan.queue) > 0; n++ {
		batch := r.plan.batch()
		change := store.Change{Time: now().UTC(), Actor: r.options.Actor, RequestID: fmt.Sprintf("import-%s-%d", request, n)}
		if change.Ops, buf, err = r.plan.ops(batch, buf); err == nil {
			base, err = r.in.commit(ctx, base, change)
		}
		if errors.Is(err, store.ErrConflict) {
			base, err = r.replan(ctx)
		} else if err == nil {
			r.stored += len(batch)
			r.plan.committed(batch)
			r.progress()
		}
		if err != nil {
			r.forget()
			return err
		}
	}
	return nil
}

// replan judges what is left to store again, over the newest state.
func (r *run) replan(ctx context.Context) (store.Position, error) {
	r.forget()
	old := r.plan
	view, err := r.in.View(ctx)
	r.plan = newPlan(view, r.spool)
	if err != nil {
		return store.Position{}, err
	}
	defer view.Close()
	r.plan.files = old.files
	before := r.report.Rejected
	for _, c := range old.versions() {
		compact, err := r.spool.appendTo(nil, c.at)
		if err == nil {
			err = r.consider(version{old.cases.name(c.id), old.cases.name(c.recurrenceOf), compact, c.place, c.at, old.repeats[c]})
		}
		if err != nil {
			return store.Position{}, err
		}
	}
	if err := r.settle(); err != nil {
		return store.Position{}, err
	}
	if r.options.OnError == Stop && r.report.Rejected > before {
		return store.Position{}, errors.New("another writer changed the store meanwhile, and with that records of this run close a cycle")
	}
	r.plan.arrange()
	r.toStore = r.stored + len(r.plan.queue)
	return view.Position(), nil
}

// Delete removes an incident and tells whether there was one.
func (in *Ingester) Delete(ctx context.Context, id, actor string) (bool, error) {
	change := store.Change{Actor: actor, RequestID: "delete-" + rand.Text(), Ops: []store.Op{{Kind: store.Delete, ID: id}}}
	for {
		view, err := in.View(ctx)
		if err != nil {
			return false, err
		}
		view.Close()
		if view.Index().Lookup(id) == nil {
			return false, nil
		}
		change.Time = time.Now().UTC()
		if _, err = in.commit(ctx, view.Position(), change); !errors.Is(err, store.ErrConflict) {
			return err == nil, err
		}
	}
}
