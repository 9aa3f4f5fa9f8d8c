package ingest

import (
	linked "container/list" // the name list is taken
	"context"
	"slices"
	"sync"

	"incidentgraph/internal/index"
	"incidentgraph/internal/search"
)

const (
	// clauseBytes bounds the memory of the sets that are kept for clauses.
	clauseBytes = 64 << 20
	// clauseOverhead is what a kept clause takes beside its sets and its key.
	clauseOverhead = 256
	// maxTextChanges is the number of changes of the text index that are told
	// apart before neighbors are put together.
	maxTextChanges = 64
	// maxKeptText is the longest query whose set is kept, in bytes.
	maxKeptText = 1 << 10
	// wholeQuery is before the text in the key of a query's set. No clause's key
	// begins so: fields are numbered from 0 up.
	wholeQuery = "\xff"
)

// textSets keeps which incidents match the clauses of queries, so that a query
// is a few operations on sets of the index. It belongs to the numbers of one
// index.
//
// What was found stays true of all incidents that no commit of the text index
// has touched since. So a clause is looked up once, as far as it is asked for;
// then, when it is used again, of the incidents that were touched meanwhile.
// Its cost after a write grows with the write and not with the corpus.
//
// A word's set is looked up whole. Of a phrase, or of a word in a field, the
// places have to be compared, which takes ten times as long and more: this is
// done for those incidents only that have all other words of the query, each
// once.
//
// The set of a whole query is kept, too, for one state of the text index: the
// pages, facets and counts of a search are different operations that ask for the
// same text.
//
// An answer is of one state of the text index, which may be ahead of the view
// that asks. Where another query has brought a clause to a newer state already,
// the query begins again with a state as new.
type textSets struct {
	reader  *search.Reader
	numbers index.Numbers
	limit   int // of bytes

	mu      sync.Mutex
	commit  uint64       // the newest state of the text index that was seen
	base    uint64       // the state from which on changes are known
	changes []textChange // up to commit, in order; elements are never changed
	clauses map[string]*linked.Element
	recent  linked.List // of *textClause, the last used one first
	bytes   int         // of all clauses
}

// textChange holds the incidents that the text index changed up to a commit,
// after the one of the change before.
type textChange struct {
	commit    uint64
	incidents index.Set
}

// textClause is what is known of a clause.
type textClause struct {
	key   string
	bytes int // guarded by the mutex of textSets

	mu sync.Mutex // guards what follows; held while it is looked up
	// known tells that there are sets, and commit what state they are of.
	known  bool
	commit uint64
	// found holds incidents that match. Those of unknown may match, too; none
	// of them is in found.
	found, unknown index.Set
}

func newTextSets(x *search.Index, n index.Numbers) *textSets {
	return &textSets{
		reader:  search.NewReader(x, numbering{n}),
		numbers: n,
		limit:   clauseBytes,
		clauses: make(map[string]*linked.Element),
	}
}

// match gives the incidents that match a query.
func (t *textSets) match(ctx context.Context, q search.Query) (set index.Set, err error) {
	err = t.reader.Read(ctx, func(s *search.State) (err error) {
		set, err = t.at(s).query(q)
		return err
	})
	return set, err
}

// matchText gives the incidents that match a query as it is written.
func (t *textSets) matchText(ctx context.Context, text string) (set index.Set, err error) {
	err = t.reader.Read(ctx, func(s *search.State) (err error) {
		m := t.at(s)
		if len(text) > maxKeptText {
			set, err = m.query(search.ParseQuery(text))
			return err
		}
		kept := t.clause(wholeQuery + text)
		var ok bool
		if set, ok = kept.at(m.commit); ok {
			return nil
		}
		if set, err = m.query(search.ParseQuery(text)); err == nil {
			m.keep(kept, set)
		}
		return err
	})
	return set, err
}

// at gives what was found in a state; false where it is of another one.
func (c *textClause) at(commit uint64) (index.Set, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.found, c.known && c.commit == commit
}

// keep keeps what was found, unless it is of an older state.
func (m *textMatch) keep(c *textClause, found index.Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || c.commit < m.commit {
		c.known, c.commit, c.found = true, m.commit, found.Own()
		m.count(c)
	}
}

// textMatch matches queries in one state of the text index.
type textMatch struct {
	*textSets
	state   *search.State
	commit  uint64
	base    uint64
	changes []textChange
}

// at follows the text index to a state.
func (t *textSets) at(s *search.State) *textMatch {
	t.mu.Lock()
	defer t.mu.Unlock()
	commit := s.Commit()
	if commit > t.commit {
		t.follow(s, commit)
	}
	return &textMatch{t, s, commit, t.base, t.changes}
}

// follow notes what has changed, or forgets all where that cannot be told. The
// caller holds mu.
func (t *textSets) follow(s *search.State, commit uint64) {
	ids, ok := s.ChangedSince(t.commit)
	t.commit = commit
	if !ok {
		t.forget()
		return
	}
	ords := make([]index.Ord, 0, len(ids))
	for _, id := range ids {
		if o, ok := t.numbers.Number(id); ok { // else it was deleted before it was ever seen
			ords = append(ords, o)
		}
	}
	if len(t.changes) >= maxTextChanges {
		t.changes = paired(t.changes)
	}
	t.changes = append(t.changes, textChange{commit, index.SetOf(ords...)})
}

// forget drops all clauses and changes. The caller holds mu.
func (t *textSets) forget() {
	t.base, t.changes = t.commit, nil
	clear(t.clauses)
	t.recent.Init()
	t.bytes = 0
}

// paired puts each two changes together.
func paired(changes []textChange) []textChange {
	var list []textChange
	for pair := range slices.Chunk(changes, 2) {
		c := pair[len(pair)-1]
		c.incidents = pair[0].incidents.Or(c.incidents)
		list = append(list, c)
	}
	return list
}

// query gives the incidents that match all wanted clauses and no excluded one.
func (m *textMatch) query(q search.Query) (set index.Set, err error) {
	if q.Empty() {
		return index.Set{}, nil
	}
	wanted := q.Wanted()
	if len(wanted) == 0 {
		wanted = []search.Clause{{}} // all incidents
	}
	// possible holds for each clause the incidents with all its words.
	possible := make([]index.Set, len(wanted))
	for i := range wanted {
		if possible[i], err = m.words(&wanted[i]); err != nil {
			return index.Set{}, err
		}
	}
	set = possible[0]
	for _, p := range possible[1:] {
		set = set.And(p)
	}
	for i := range wanted {
		if c := &wanted[i]; !c.Single() {
			if set, err = m.phrase(c, possible[i], set); err != nil {
				return index.Set{}, err
			}
		}
	}
	for _, c := range q.Excluded() {
		if set.Len() == 0 {
			break
		}
		out, err := m.words(&c)
		if err == nil && !c.Single() {
			out, err = m.phrase(&c, out, set.And(out))
		}
		if err != nil {
			return index.Set{}, err
		}
		set = set.AndNot(out)
	}
	return set, nil
}

// words gives the incidents with all words of a clause, wherever they are.
func (m *textMatch) words(c *search.Clause) (set index.Set, err error) {
	for i, word := range c.Terms() {
		found, err := m.find(&word, nil, nil)
		if err != nil {
			return index.Set{}, err
		}
		if i == 0 {
			set = found
		} else {
			set = set.And(found)
		}
	}
	return set, nil
}

// phrase gives those of some incidents that match a clause; none but possible
// ones can.
func (m *textMatch) phrase(c *search.Clause, possible, among index.Set) (index.Set, error) {
	if among.Len() == 0 {
		return index.Set{}, nil
	}
	found, err := m.find(c, &possible, &among)
	return among.And(found), err
}

// find gives incidents that match a clause: all where among is nil, else at
// least those among them. Nothing but what is possible is looked at; nil stands
// for everything, too.
func (m *textMatch) find(c *search.Clause, possible, among *index.Set) (index.Set, error) {
	e := m.clause(c.Key())
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known && e.commit > m.commit {
		return index.Set{}, search.ErrStale
	}
	if err := m.update(e, c, possible); err != nil {
		return index.Set{}, err
	}
	missing := e.unknown
	if among != nil {
		missing = missing.And(*among)
	}
	if missing.Len() > 0 {
		found, err := m.lookUp(c, &missing)
		if err != nil {
			return index.Set{}, err
		}
		e.found, e.unknown = e.found.Or(found).Own(), e.unknown.AndNot(missing).Own()
		m.count(e)
	}
	return e.found, nil
}

// update brings a clause to the state at hand. The caller holds its mutex.
func (m *textMatch) update(e *textClause, c *search.Clause, possible *index.Set) error {
	switch {
	case e.known && e.commit == m.commit:
		return nil
	case e.known && e.commit >= m.base:
		changed := m.changedSince(e.commit)
		e.found, e.unknown = e.found.AndNot(changed).Own(), e.unknown.Or(changed).Own()
	case possible != nil:
		e.found, e.unknown = index.Set{}, possible.Own()
	default:
		found, err := m.lookUp(c, nil)
		if err != nil {
			return err
		}
		e.found, e.unknown = found, index.Set{}
	}
	e.known, e.commit = true, m.commit
	m.count(e)
	return nil
}

// changedSince gives the incidents that have changed after a commit, perhaps
// more.
func (m *textMatch) changedSince(commit uint64) index.Set {
	var sets []index.Set
	for _, c := range slices.Backward(m.changes) {
		if c.commit <= commit {
			break
		}
		sets = append(sets, c.incidents)
	}
	return index.Union(sets...)
}

// lookUp gives what matches a clause in the text index, among some incidents
// where that is not nil.
func (m *textMatch) lookUp(c *search.Clause, among *index.Set) (index.Set, error) {
	var set search.Set
	if among != nil {
		set = numberSet{*among}
	}
	var b index.SetBuilder
	err := m.state.Find(c, set, func(numbers []uint32) {
		for _, n := range numbers {
			b.Add(index.Ord(n))
		}
	})
	return b.Set(), err
}

// clause gives what is known of a clause.
func (t *textSets) clause(key string) *textClause {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.clauses[key]; e != nil {
		t.recent.MoveToFront(e)
		return e.Value.(*textClause)
	}
	c := &textClause{key: key, bytes: clauseOverhead + len(key)}
	t.clauses[key] = t.recent.PushFront(c)
	t.bytes += c.bytes
	t.evict()
	return c
}

// count takes note of a clause's size, unless the clause is not kept any more.
func (t *textSets) count(c *textClause) {
	size := clauseOverhead + len(c.key) + c.found.Bytes() + c.unknown.Bytes()
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.clauses[c.key]; e != nil && e.Value == c {
		t.bytes += size - c.bytes
		c.bytes = size
		t.evict()
	}
}

// evict drops the clauses that were used longest ago where all take too much.
// The caller holds mu.
func (t *textSets) evict() {
	for t.bytes > t.limit {
		c := t.recent.Remove(t.recent.Back()).(*textClause)
		delete(t.clauses, c.key)
		t.bytes -= c.bytes
	}
}

// numbering is what the search package needs to know of an index's numbers.
type numbering struct{ index.Numbers }

// Number finds the number of a case id.
func (n numbering) Number(id string) (uint32, bool) {
	o, ok := n.Numbers.Number(id)
	return uint32(o), ok
}

// CaseID gives the case id behind a number.
func (n numbering) CaseID(number uint32) string { return n.Numbers.CaseID(index.Ord(number)) }

// numberSet is a set as the search package takes it.
type numberSet struct{ index.Set }

// Has tells whether a number is a member.
func (s numberSet) Has(number uint32) bool { return s.Set.Has(index.Ord(number)) }

// AppendTo appends the members to numbers.
func (s numberSet) AppendTo(numbers []uint32) []uint32 {
	for o := range s.All() {
		numbers = append(numbers, uint32(o))
	}
	return numbers
}
