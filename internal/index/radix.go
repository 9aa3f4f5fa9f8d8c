package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// keyed is an incident with a number to sort it by.
type keyed struct {
	key uint64
	ord Ord
}

// sortKeyed sorts by key and leaves equal ones in their order: digit by digit
// from the last, each of them a byte (radix sort; Knuth 1973, section 5.2.5).
func sortKeyed(list []keyed) {
	other := make([]keyed, len(list))
	from, to := list, other
	for shift := 0; shift < 64; shift += 8 {
		var places [256]int
		for _, x := range from {
			places[byte(x.key>>shift)]++
		}
		if len(from) == 0 || places[byte(from[0].key>>shift)] == len(from) {
			continue // all have the same digit
		}
		next := 0
		for digit, n := range places {
			places[digit], next = next, next+n
		}
		for _, x := range from {
			digit := byte(x.key >> shift)
			to[places[digit]] = x
			places[digit]++
		}
		from, to = to, from
	}
	if len(list) > 0 && &from[0] != &list[0] {
		copy(list, from)
	}
}

// sortBy sorts incidents by one key of an order, without a value last, and
// leaves equal ones in their order.
func (s *Snapshot) sortBy(ords []Ord, o Order) {
	list, none := make([]keyed, 0, len(ords)), []Ord(nil)
	for _, x := range ords {
		v, ok := s.value(s.Node(x), o.Field)
		if !ok {
			none = append(none, x)
			continue
		}
		key := uint64(v) ^ 1<<63 // orders as the signed number does
		if o.Desc {
			key = ^key
		}
		list = append(list, keyed{key, x})
	}
	sortKeyed(list)
	for i, x := range list {
		ords[i] = x.ord
	}
	copy(ords[len(list):], none)
}

// sortByID sorts incidents by case id: by the eight bytes behind what all ids
// begin with, and where these are equal by the whole id.
func (s *Snapshot) sortByID(ords []Ord) {
	if len(ords) == 0 {
		return
	}
	prefix := s.CaseID(ords[0])
	for _, o := range ords {
		for !strings.HasPrefix(s.CaseID(o), prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	list := make([]keyed, len(ords))
	for i, o := range ords {
		var b [8]byte
		copy(b[:], s.CaseID(o)[len(prefix):])
		list[i] = keyed{binary.BigEndian.Uint64(b[:]), o}
	}
	sortKeyed(list)
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].key == list[i].key {
			end++
		}
		slices.SortFunc(list[i:end], func(a, b keyed) int { return cmp.Compare(s.CaseID(a.ord), s.CaseID(b.ord)) })
		i = end
	}
	for i, x := range list {
		ords[i] = x.ord
	}
}
