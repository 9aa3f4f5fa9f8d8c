package search

import (
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

const (
	// maxWord is the number of runes that count in a word: longer ones are
	// addresses and encoded data, and their beginning is enough to find them.
	maxWord = 64
	// maxStems bounds the memory of the stemmer's cache.
	maxStems = 1 << 15
)

// token is one term of the index at one place of a text.
type token struct {
	// term is valid until the next token.
	term []byte
	// at is the position within the field. A word takes one position, a run
	// of n bigram characters n, and after each run one position stays free;
	// so two bigrams two positions apart are always of one run.
	at int
	// start and end are code points of the text.
	start, end int
	// run numbers the runs of the text.
	run    int
	script script
	// extra marks a token at the position of another one, which stands for a
	// part of it.
	extra bool
}

// analyzer turns texts into tokens. It is not safe for concurrent use.
type analyzer struct {
	// position is where the next run begins. It goes on from text to text;
	// whoever starts a new field sets it to 0.
	position int

	yield  func(token)
	run    []cell
	script script
	runs   int
	// joiner is a character that belongs to the run if the next one does.
	joiner cell
	term   []byte
	env    *snowballstem.Env
	stems  map[string]string

	gatherer gatherer // of those who make documents
}

// cell is one folded rune of a run with the code points that it comes from.
type cell struct {
	r          rune
	start, end int
}

func newAnalyzer() *analyzer {
	return &analyzer{env: snowballstem.NewEnv(""), stems: make(map[string]string)}
}

// analyze yields the tokens of s in the order of their positions. A phrase
// never reaches from one call into the next.
func (a *analyzer) analyze(s string, yield func(token)) {
	a.yield = yield
	a.runs = 0
	fold(s, a.add)
	a.flush()
	a.position++
	a.yield = nil
}

// add takes one folded rune.
func (a *analyzer) add(r rune, start, end int) {
	c := cell{r, start, end}
	s := scriptOf(r)
	switch {
	case s == ignorable:
	case s == mark:
		if len(a.run) > 0 {
			a.join(c)
		}
	case a.continues(r, s):
		a.join(c)
		if a.script == digit {
			a.script = s
		}
	case s != separator:
		a.flush()
		a.script = s
		a.run = append(a.run, c)
	case len(a.run) > 0 && a.joiner.r == 0 && a.joins(r):
		a.joiner = c
	default:
		a.flush()
	}
}

// continues tells whether a rune belongs to the run at hand.
func (a *analyzer) continues(r rune, s script) bool {
	switch {
	case len(a.run) == 0 || s == separator:
		return false
	case a.joiner.r == '.':
		return s == digit
	case a.joiner.r != 0: // an apostrophe
		return s == a.script
	case s == a.script:
		return true
	case s == digit:
		return !a.script.bigrams()
	case r == prolonged:
		return a.script == hiragana
	default:
		return a.script == digit && !s.bigrams()
	}
}

// joins tells whether a separator may be part of the run: the dot of a version
// number, the apostrophe of a word.
func (a *analyzer) joins(r rune) bool {
	last := scriptOf(a.run[len(a.run)-1].r)
	switch r {
	case '.':
		return last == digit
	case '\'', '’':
		return last == a.script && !last.bigrams() && last != digit
	}
	return false
}

func (a *analyzer) join(c cell) {
	if a.joiner.r != 0 {
		if a.joiner.r == '’' {
			a.joiner.r = '\''
		}
		a.run = append(a.run, a.joiner)
		a.joiner = cell{}
	}
	a.run = append(a.run, c)
}

// flush ends the run at hand.
func (a *analyzer) flush() {
	a.joiner = cell{}
	n := len(a.run)
	switch {
	case n == 0:
		return
	case !a.script.bigrams():
		a.word()
		n = 1
	case n == 1:
		a.emit(a.run, 0, false)
	default:
		a.syllables()
	}
	a.position += n + 1
	a.runs++
	a.run = a.run[:0]
}

func (a *analyzer) word() {
	a.spell(a.run[:min(len(a.run), maxWord)])
	a.stem()
	a.send(a.run, 0, false)
}

func (a *analyzer) syllables() {
	if a.script == hangul && len(a.run) <= 1+longestParticle && a.isParticle(a.run[1:]) {
		a.emit(a.run[:1], 0, true)
	}
	for i := range len(a.run) - 1 {
		a.emit(a.run[i:i+2], i, false)
	}
}

func (a *analyzer) isParticle(cells []cell) bool {
	a.spell(cells)
	return particles[string(a.term)]
}

// emit yields the cells as they are.
func (a *analyzer) emit(cells []cell, offset int, extra bool) {
	a.spell(cells)
	a.send(cells, offset, extra)
}

// spell sets term.
func (a *analyzer) spell(cells []cell) {
	a.term = a.term[:0]
	for _, c := range cells {
		a.term = utf8.AppendRune(a.term, c.r)
	}
}

func (a *analyzer) send(cells []cell, offset int, extra bool) {
	a.yield(token{
		term:   a.term,
		at:     a.position + offset,
		start:  cells[0].start,
		end:    cells[len(cells)-1].end,
		run:    a.runs,
		script: a.script,
		extra:  extra,
	})
}

// stem replaces an English word by its stem (Porter 2001, "Porter2").
func (a *analyzer) stem() {
	if len(a.term) < 3 {
		return
	}
	for _, c := range a.term {
		if (c < 'a' || c > 'z') && c != '\'' {
			return
		}
	}
	stem, ok := a.stems[string(a.term)]
	if !ok {
		if len(a.stems) == maxStems {
			clear(a.stems)
		}
		word := string(a.term)
		a.env.SetCurrent(word)
		english.Stem(a.env)
		stem = a.env.Current()
		a.stems[word] = stem
	}
	a.term = append(a.term[:0], stem...)
}
