package index

import (
	"cmp"
	"maps"
	"slices"
)

const (
	// unspelled stands where an incident has an org's slug but no name for it.
	unspelled = ^uint32(0)
	// asSlug is the spelling that is the slug itself.
	asSlug = unspelled - 1
)

// spellings counts in how many incidents each spelling of one name is used,
// by spelling number. Numbers rise with arrival, so new spellings come last,
// before asSlug.
type spellings []spelled

type spelled struct {
	spelling uint32
	n        int32
}

func (s *spellings) add(spelling uint32, by int) {
	i, ok := slices.BinarySearchFunc(*s, spelling, func(x spelled, n uint32) int {
		return cmp.Compare(x.spelling, n)
	})
	if !ok {
		*s = slices.Insert(*s, i, spelled{spelling: spelling})
	}
	(*s)[i].n += int32(by)
	if (*s)[i].n == 0 {
		*s = slices.Delete(*s, i, i+1)
	}
}

// best gives the most used spelling of the name with the slug, the bytewise
// smallest on a tie; "" where there is none.
func (s spellings) best(texts *interner[string], slug string) string {
	best, most := "", int32(0)
	for _, x := range s {
		text := slug
		if x.spelling != asSlug {
			text = texts.name(x.spelling)
		}
		if x.n > most || x.n == most && text < best {
			best, most = text, x.n
		}
	}
	return best
}

// respell changes the spellings of one owner and tells whether it did.
func respell(by *[]spellings, owner uint32, changed map[uint32]int) bool {
	maps.DeleteFunc(changed, func(_ uint32, n int) bool { return n == 0 })
	if len(changed) == 0 {
		return false
	}
	for int(owner) >= len(*by) {
		*by = append(*by, nil)
	}
	for _, spelling := range slices.Sorted(maps.Keys(changed)) {
		(*by)[owner].add(spelling, changed[spelling])
	}
	return true
}
