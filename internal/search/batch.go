package search

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"incidentgraph/internal/incident"
)

// Batch collects changes of an index. It keeps the incidents until they are
// committed, and makes some ten times the size of their texts of them: some
// hundred records of the usual size, or some MB of text, are a good measure. It is not safe for concurrent use.
type Batch struct {
	index *Index
	// changes holds the last change of each case, nil for a deletion.
	changes map[string]*incident.Incident
}

// NewBatch begins a batch.
func (ix *Index) NewBatch() *Batch {
	return &Batch{index: ix, changes: make(map[string]*incident.Incident)}
}

// Put adds an incident, in place of the one with the same id.
func (b *Batch) Put(inc *incident.Incident) { b.changes[inc.ID] = inc }

// Delete removes an incident; there need not be one.
func (b *Batch) Delete(id string) { b.changes[id] = nil }

// Len gives the number of incidents that the batch changes.
func (b *Batch) Len() int { return len(b.changes) }

// Commit applies the changes and sets the position, all or nothing; on disk
// both are durable when it returns. Then the batch is empty and can be used
// again. After an error the outcome is unknown: close the index and open it
// again to see its position.
func (b *Batch) Commit(position []byte) error {
	if err := b.index.commit(b.changes, position); err != nil {
		return fmt.Errorf("search: commit: %w", err)
	}
	clear(b.changes)
	return nil
}

func (ix *Index) commit(changes map[string]*incident.Incident, position []byte) (err error) {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	ix.life.RLock()
	defer ix.life.RUnlock()
	v, err := ix.snapshot()
	if err != nil {
		return err
	}
	defer v.close()
	defer recoverDamage(&err)
	batch := index.NewBatch()
	uses := make(map[string]*use)
	for id, inc := range changes {
		if inc == nil {
			batch.Delete(string(incidentKey) + id)
			continue
		}
		list := forms(inc)
		for _, f := range list {
			u := useOf(uses, f.id)
			u.form = f
			u.change++
		}
		batch.Update(newIncident(inc, list, ix.concepts, &ix.pool))
	}
	if err := v.formsBefore(batch, uses); err != nil {
		return err
	}
	if err := v.changeForms(batch, uses, &ix.pool); err != nil {
		return err
	}
	batch.SetInternal(positionKey, slices.Clone(position))
	ix.commits++
	ix.recent.add(ix.commits, slices.Collect(maps.Keys(changes)))
	batch.SetInternal(commitsKey, binary.BigEndian.AppendUint64(nil, ix.commits))
	if err := ix.engine.Batch(batch); err != nil {
		return err
	}
	if ix.dir == "" {
		return ix.compact()
	}
	return nil
}

// use says how a commit changes the number of incidents that use a form.
type use struct {
	form   form // without a text where no incident of the commit uses it
	change int
}

func useOf(uses map[string]*use, id string) *use {
	u := uses[id]
	if u == nil {
		u = &use{form: form{id: id}}
		uses[id] = u
	}
	return u
}

// formsBefore counts off the forms of the incidents that a batch replaces or
// deletes.
func (v *view) formsBefore(batch *index.Batch, uses map[string]*use) error {
	ids := make([]string, 0, len(batch.IndexOps))
	for id := range batch.IndexOps {
		ids = append(ids, id)
	}
	for _, s := range v.Segments() {
		old, err := s.DocNumbers(ids)
		if err != nil {
			return err
		}
		for it := old.Iterator(); it.HasNext(); {
			list, err := storedForms(s.Segment(), uint64(it.Next()))
			if err != nil {
				return err
			}
			for _, id := range list {
				useOf(uses, id).change--
			}
		}
	}
	return nil
}

// storedForms gives the ids of the forms that an incident uses.
func storedForms(s segment.Segment, doc uint64) ([]string, error) {
	var ids []string
	err := s.VisitStoredFields(doc, func(name string, _ byte, value []byte, _ []uint64) bool {
		if name == formsField && len(value) > 0 {
			ids = strings.Split(string(value), "\n")
		}
		return true
	})
	return ids, err
}

// changeForms makes forms appear with their first incident and go with their
// last one.
func (v *view) changeForms(batch *index.Batch, uses map[string]*use, pool *analyzers) error {
	for id, u := range uses {
		if u.change == 0 {
			continue
		}
		before, err := v.count(keyField, id)
		if err != nil {
			return err
		}
		switch after := before + u.change; {
		case after == 0:
			batch.Delete(id)
		case before == 0:
			batch.Update(newFormDocument(u.form, pool))
		}
	}
	return nil
}
