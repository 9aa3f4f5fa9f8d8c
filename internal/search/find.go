package search

import "slices"

// Set is a set of numbers, as far as Find needs it.
type Set interface {
	Len() int
	Has(number uint32) bool
	AppendTo(numbers []uint32) []uint32
}

const (
	// fewNumbers is up to how many incidents are looked at one by one,
	// whatever the clause.
	fewNumbers = 64
	// scanShare tells how much cheaper it is to pass by a document on the way
	// through all that may match than to look it up.
	scanShare = 16
	// chunk is how many numbers are given at a time.
	chunk = 512
)

// Find gives the incidents that match a clause, of all or among those of a set
// where that is not nil, in no particular order and each once. It calls yield
// with some numbers at a time, in a slice that is used again. Its cost grows
// with the incidents that have all terms of the clause, or with the set where
// that is much smaller.
func (s *State) Find(c *Clause, among Set, yield func(numbers []uint32)) error {
	if err := s.open(); err != nil {
		return err
	}
	f := finder{State: s, clause: c, yield: yield}
	if among != nil && among.Len() <= fewNumbers {
		return f.each(among)
	}
	lookups := make([]*lookup, len(s.tables))
	docs := 0
	for i, seg := range s.view.Segments() {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		l, err := lookUp(seg, textField, *c)
		if err != nil {
			return err
		}
		lookups[i] = l
		docs += int(l.docs.GetCardinality())
	}
	if among != nil && among.Len() < docs/scanShare {
		return f.each(among)
	}
	for i, l := range lookups {
		if err := f.scan(l, s.tables[i].numbers, among); err != nil {
			return err
		}
	}
	return nil
}

// finder carries out one call of Find.
type finder struct {
	*State
	clause *Clause
	yield  func(numbers []uint32)
	seen   int // documents whose places were compared
}

// scan goes through the documents of a segment that have all terms.
func (f *finder) scan(l *lookup, numbers []uint32, among Set) error {
	var buffer [chunk]uint32
	docs := l.docs.ManyIterator()
	for n := docs.NextMany(buffer[:]); n > 0; n = docs.NextMany(buffer[:]) {
		found := buffer[:n]
		if !l.Single() {
			var err error
			if found, err = f.standing(l, found, numbers, among); err != nil {
				return err
			}
		}
		found = numbered(found, numbers)
		if among != nil {
			found = slices.DeleteFunc(found, func(number uint32) bool { return !among.Has(number) })
		}
		f.yield(found)
	}
	return nil
}

// numbered puts in place of documents their numbers, and leaves out those that
// have none.
func numbered(docs, numbers []uint32) []uint32 {
	n := 0
	for _, doc := range docs {
		if number := numbers[doc]; number != noNumber {
			docs[n] = number
			n++
		}
	}
	return docs[:n]
}

// standing leaves of documents with all terms those of the set where the clause
// stands.
func (f *finder) standing(l *lookup, docs, numbers []uint32, among Set) ([]uint32, error) {
	n := 0
	for _, doc := range docs {
		if number := numbers[doc]; number == noNumber || among != nil && !among.Has(number) {
			continue
		}
		ok, err := f.stands(l, doc)
		if err != nil {
			return nil, err
		}
		if ok {
			docs[n] = doc
			n++
		}
	}
	return docs[:n], nil
}

// stands tells whether the clause stands in a document that has all its terms.
func (f *finder) stands(l *lookup, doc uint32) (bool, error) {
	if f.seen++; f.seen%1024 == 0 && f.ctx.Err() != nil {
		return false, f.ctx.Err()
	}
	n, _, err := l.occurrences(doc)
	return n > 0, err
}

// each looks at the incidents of a set.
func (f *finder) each(among Set) error {
	docs, err := f.documents(among)
	if err != nil {
		return err
	}
	for i, seg := range f.view.Segments() {
		if len(docs[i]) == 0 {
			continue
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
		l, err := lookUp(seg, textField, *f.clause)
		if err != nil {
			return err
		}
		found := docs[i][:0]
		for _, doc := range docs[i] {
			ok := l.docs.Contains(doc)
			if ok && !l.Single() {
				if ok, err = f.stands(l, doc); err != nil {
					return err
				}
			}
			if ok {
				found = append(found, f.tables[i].numbers[doc])
			}
		}
		f.yield(found)
	}
	return nil
}

// documents gives the documents of incidents, by segment and in rising order;
// some of them may be deleted. It gives ErrStale where a newer state has moved
// the places on.
func (f *finder) documents(among Set) ([][]uint32, error) {
	segments := make(map[uint64]int, len(f.tables))
	for i, t := range f.tables {
		segments[t.segment] = i
	}
	docs := make([][]uint32, len(f.tables))
	r := f.reader
	r.mapping.Lock()
	defer r.mapping.Unlock()
	if !r.fits(f.view) {
		return nil, ErrStale
	}
	for _, number := range among.AppendTo(nil) {
		if int(number) >= len(r.places) {
			continue
		}
		p := r.places[number]
		if i, ok := segments[p.segment]; ok && f.tables[i].has(p.doc, number) {
			docs[i] = append(docs[i], p.doc)
		}
	}
	for _, list := range docs {
		slices.Sort(list)
	}
	return docs, nil
}
