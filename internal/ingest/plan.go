package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

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

// candidate is a record that is valid by itself.
type candidate struct {
	id, recurrenceOf string
	file             string
	line             int
	at               span // where its bytes are
	outcome          outcome
}

// plan is what a run is going to store, over one state of the store. Records
// are judged one after the other, each over what those before it left.
type plan struct {
	view     *View
	spool    *spool
	pointers *pointers
	// latest finds the newest accepted record of an id.
	latest map[string]span
	// accepted are the records to store, in order. An id may come again.
	// In the order of the input their places in the spool rise.
	accepted []candidate
}

func newPlan(v *View, s *spool) *plan {
	return &plan{view: v, spool: s, pointers: newPointers(v.Index()), latest: make(map[string]span)}
}

// judge tells what becomes of a record with the given bytes. The error is a
// *CycleError, or one of reading.
func (p *plan) judge(c candidate, raw []byte) (outcome, error) {
	before, err := p.before(c.id)
	if err != nil {
		return 0, err
	}
	if before != nil && incident.Equal(before, raw) {
		return unchanged, nil
	}
	if cycle := p.pointers.point(c.id, c.recurrenceOf); cycle != nil {
		return 0, &CycleError{CaseID: c.id, Cycle: cycle}
	}
	if before == nil {
		return created, nil
	}
	return updated, nil
}

// before gives the record that another with this id would replace, nil if
// there is none.
func (p *plan) before(id string) ([]byte, error) {
	if at, ok := p.latest[id]; ok {
		return p.spool.appendTo(nil, at)
	}
	if p.view.Index().Lookup(id) == nil {
		return nil, nil
	}
	rec, err := p.view.record(id)
	return rec.Bytes, err
}

// accept adds a judged record whose bytes are in the spool.
func (p *plan) accept(c candidate) {
	p.accepted = append(p.accepted, c)
	p.latest[c.id] = c.at
}

// arrange puts what was accepted in the order of ids, in which stores write
// fastest, if every part of it is then as free of cycles as the whole.
func (p *plan) arrange() {
	if !p.pointers.turned {
		slices.SortStableFunc(p.accepted, func(a, b candidate) int { return strings.Compare(a.id, b.id) })
	}
}

// Bounds of one change of the store.
const (
	maxBatchRecords = 2048
	maxBatchBytes   = 8 << 20
)

// batch gives the accepted records that the next change takes, at least one.
func (p *plan) batch() []candidate {
	bytes := 0
	for i, c := range p.accepted {
		if bytes += c.at.size; i > 0 && (i == maxBatchRecords || bytes > maxBatchBytes) {
			return p.accepted[:i]
		}
	}
	return p.accepted
}

// ops makes operations of a batch. Of several records with one id the last
// counts. The bytes lie in buf, which is given back for the next batch.
func (p *plan) ops(batch []candidate, buf []byte) ([]store.Op, []byte, error) {
	var err error
	place := make(map[string]int, len(batch))
	ops := make([]store.Op, 0, len(batch))
	total := 0
	for _, c := range batch {
		total += c.at.size
	}
	if buf = buf[:0]; cap(buf) < total {
		buf = make([]byte, 0, total)
	}
	for _, c := range batch {
		start := len(buf)
		if buf, err = p.spool.appendTo(buf, c.at); err != nil {
			return nil, buf, err
		}
		op := store.Op{Kind: store.Put, ID: c.id, Record: buf[start:len(buf):len(buf)]}
		if i, twice := place[c.id]; twice {
			ops[i] = op
			continue
		}
		place[c.id] = len(ops)
		ops = append(ops, op)
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
