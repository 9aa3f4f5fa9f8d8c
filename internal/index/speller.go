package index

// speller measures how far words are from one word.
type speller struct {
	word  []rune
	other []rune
	rows  [3][]int
	bag   map[rune]int // how often the word has each character
}

func newSpeller(word string) *speller {
	s := &speller{word: []rune(word), bag: make(map[rune]int)}
	for i := range s.rows {
		s.rows[i] = make([]int, len(s.word)+1)
	}
	for _, r := range s.word {
		s.bag[r]++
	}
	return s
}

// distance gives the restricted Damerau-Levenshtein distance (Damerau 1964):
// the number of insertions, deletions, substitutions and swaps of neighbors,
// or some number above limit where it is more than that.
func (s *speller) distance(other string, limit int) int {
	s.other = s.other[:0]
	for _, r := range other {
		s.other = append(s.other, r)
	}
	if d := s.atLeast(); d > limit {
		return d
	}
	before, prev, row := s.rows[0], s.rows[1], s.rows[2]
	for j := range row {
		row[j] = j
	}
	for i, b := range s.other {
		before, prev, row = prev, row, before
		row[0] = i + 1
		least := row[0]
		for j, a := range s.word {
			cost := 1
			if a == b {
				cost = 0
			}
			d := min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a == s.other[i-1] && b == s.word[j-1] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
			least = min(least, d)
		}
		// A swap reaches back two rows, but costs no less than the row
		// between them allows.
		if least > limit {
			return least
		}
	}
	return row[len(s.word)]
}

// atLeast gives a lower bound of the distance: an edit changes the length by
// one at most, and makes at most one character of either word lose its match
// in the other, wherever the two stand.
func (s *speller) atLeast() int {
	unmatched := 0
	for _, r := range s.other {
		if s.bag[r] <= 0 {
			unmatched++
		}
		s.bag[r]--
	}
	for _, r := range s.other {
		s.bag[r]++
	}
	// The other way round: the characters of the word without a match.
	return max(unmatched, unmatched+len(s.word)-len(s.other))
}
