package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/store"
)

// outcome is what becomes of a record.
type outcome uint8

const (
	created outcome = iota
	updated
	unchanged
)

// count adds by to the number of records with an outcome.
func (r *Report) count(o outcome, by int) {
	switch o {
	case created:
		r.Created += by
	case updated:
		r.Updated += by
	case unchanged:
		r.Unchanged += by
	}
}

// candidate is a record that is valid by itself. Those that differ from what
// was before them are the versions of their id. A run keeps one for each record
// that it is going to store, so they are small: ids are numbers of the plan.
type candidate struct {
	id, recurrenceOf caseNumber
	place            place
	at               span // where its bytes are
	// before is the version of the same run that this one replaces, nil if
	// there is none.
	before  *candidate
	outcome outcome
}

// place is where a record begins.
type place struct {
	file uint32 // number of the plan's files
	line int
}

// plan is what a run is going to store, over one state of the store. Records
// are judged one after the other, each over what those before it left.
type plan struct {
	view  *View
	spool *spool
	files []string
	cases *caseNumbers // of the ids that records of the run have or name
	// latest has, by number, the version that counts of each id that is left to
	// store. In the order of the input the places of versions in the spool rise.
	latest []*candidate
	free   []candidate // to be used
	// repeats are the records that were unchanged over a version of the run.
	repeats map[*candidate][]place
	// queue holds what counts in the order of commits.
	queue []*candidate
}

func newPlan(v *View, s *spool) *plan {
	return &plan{
		view: v, spool: s, repeats: make(map[*candidate][]place),
		cases: newCaseNumbers(), latest: []*candidate{nil},
	}
}

// file numbers the source that records come from now.
func (p *plan) file(name string) uint32 {
	if n := len(p.files); n == 0 || p.files[n-1] != name {
		p.files = append(p.files, name)
	}
	return uint32(len(p.files) - 1)
}

// number numbers a case id.
func (p *plan) number(id string) caseNumber {
	n := p.cases.number(id)
	for int(n) >= len(p.latest) {
		p.latest = append(p.latest, nil)
	}
	return n
}

// newCandidate gives memory for a candidate.
func (p *plan) newCandidate() *candidate {
	if len(p.free) == 0 {
		p.free = make([]candidate, 1024)
	}
	c := &p.free[0]
	p.free = p.free[1:]
	return c
}

// judge tells what becomes of a record with the given bytes.
func (p *plan) judge(id string, raw []byte) (outcome, error) {
	before, err := p.before(id)
	switch {
	case err != nil:
		return 0, err
	case before == nil:
		return created, nil
	case incident.Equal(before, raw):
		return unchanged, nil
	}
	return updated, nil
}

// before gives the record that another with this id would replace, nil if
// there is none.
func (p *plan) before(id string) ([]byte, error) {
	if c := p.latest[p.cases.find(id)]; c != nil {
		return p.spool.appendTo(nil, c.at)
	}
	if p.view.Index().Lookup(id) == nil {
		return nil, nil
	}
	rec, err := p.view.record(id)
	return rec.Bytes, err
}

// accept adds a judged version whose bytes are in the spool.
func (p *plan) accept(c *candidate) {
	c.before = p.latest[c.id]
	p.latest[c.id] = c
}

// takeBack lets what c replaced count again. c is the latest of its id.
func (p *plan) takeBack(c *candidate) { p.latest[c.id] = c.before }

// versions gives all versions of what is left to store, in the order of the
// input.
func (p *plan) versions() []*candidate {
	var all []*candidate
	for _, c := range p.latest {
		for ; c != nil; c = c.before {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int { return cmp.Compare(a.at.at, b.at.at) })
	return all
}

// Bounds of one change of the store.
const (
	maxBatchRecords = 2048
	maxBatchBytes   = 8 << 20
)

// batch gives what the next change takes from the queue, at least one.
func (p *plan) batch() []*candidate {
	bytes := 0
	for i, c := range p.queue {
		if bytes += int(c.at.size); i > 0 && (i == maxBatchRecords || bytes > maxBatchBytes) {
			return p.queue[:i]
		}
	}
	return p.queue
}

// committed takes a batch out of what is left to store.
func (p *plan) committed(batch []*candidate) {
	for _, c := range batch {
		p.latest[c.id] = nil
	}
	p.queue = p.queue[len(batch):]
}

// ops makes operations of a batch. The bytes lie in buf, which is given back
// for the next batch.
func (p *plan) ops(batch []*candidate, buf []byte) ([]store.Op, []byte, error) {
	var err error
	ops := make([]store.Op, 0, len(batch))
	total := 0
	for _, c := range batch {
		total += int(c.at.size)
	}
	if buf = buf[:0]; cap(buf) < total {
		buf = make([]byte, 0, total)
	}
	for _, c := range batch {
		start := len(buf)
		if buf, err = p.spool.appendTo(buf, c.at); err != nil {
			return nil, buf, err
		}
		ops = append(ops, store.Op{Kind: store.Put, ID: p.cases.name(c.id), Record: buf[start:len(buf):len(buf)]})
	}
	return ops, buf, nil
}

// commit appends a change, and asks where the outcome is not known. It fails
// with store.ErrConflict where the head is not base.
func (in *Ingester) commit(ctx context.Context, base store.Position, c store.Change) (store.Position, error) {
	position, err := in.log.Append(ctx, base, c)
	if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrInvalidChange) {
		return position, err
	}
	position, unknown := in.log.Request(context.WithoutCancel(ctx), c.RequestID)
	if unknown != nil {
		return store.Position{}, err
	}
	return position, nil
}
