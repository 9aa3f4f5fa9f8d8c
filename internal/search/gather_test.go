package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fieldText is a text of a document.
type fieldText struct {
	field Field
	text  string
}

// gathered is what a document is made of.
type gathered struct {
	Places   map[string][]int
	Headings map[string]bool
	Length   int
	Whole    string
}

// gatheredSlowly collects the tokens of texts one by one.
func gatheredSlowly(texts []fieldText) gathered {
	d := gathered{Places: make(map[string][]int), Headings: make(map[string]bool)}
	a := newAnalyzer()
	var whole []string
	last := AnyField
	for _, t := range texts {
		if t.field != last {
			a.position, last = 0, t.field
		}
		a.analyze(t.text, func(tok token) {
			term := string(tok.term)
			d.Places[term] = append(d.Places[term], tok.at<<fieldBits|int(t.field))
			if t.field.heading() {
				d.Headings[term] = true
			}
			if !tok.extra {
				d.Length++
				whole = append(whole, term)
			}
		})
	}
	for _, places := range d.Places {
		slices.Sort(places)
	}
	if len(whole) <= maxWhole {
		d.Whole = strings.Join(whole, " ")
	}
	return d
}

// gatheredBy collects them with a gatherer.
func gatheredBy(a *analyzer, texts []fieldText) gathered {
	g := a.gather()
	for _, t := range texts {
		g.add(t.field, t.text)
	}
	d := gathered{Places: make(map[string][]int), Headings: make(map[string]bool), Whole: g.whole()}
	placed := g.placed(textField)
	d.Length = placed.length
	for term, f := range placed.terms {
		for _, l := range f.Locations {
			d.Places[term] = append(d.Places[term], l.Position)
		}
		if string(f.Term) != term || f.Frequency() != len(f.Locations) {
			panic(fmt.Sprintf("%q: %q %d times in %d places", term, f.Term, f.Frequency(), len(f.Locations)))
		}
	}
	for term, f := range g.heading(headField).terms {
		d.Headings[term] = true
		if string(f.Term) != term || f.Frequency() != 0 || f.Locations != nil {
			panic(fmt.Sprintf("%q: %q %d times", term, f.Term, f.Frequency()))
		}
	}
	return d
}

// TestGather gathers documents one after the other, among them very long ones
// and ones with more terms than are kept.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	a := newAnalyzer()
	for n := range 120 {
		var texts []fieldText
		for f := ID; f < fieldCount; f++ {
			for range r.IntN(3) {
				most := 12
				if n%40 == 7 {
					most = 5 * sharedLocations
				}
				texts = append(texts, fieldText{f, randomText(r, most)})
			}
		}
		if n%50 == 9 {
			var b strings.Builder
			for i := range maxLexicon + 10 {
				fmt.Fprintf(&b, "x%d ", i+n)
			}
			texts = append(texts, fieldText{Severity, b.String()})
		}
		if n%10 == 0 {
			texts = texts[:min(1, len(texts))]
		}
		if diff := cmp.Diff(gatheredSlowly(texts), gatheredBy(a, texts), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("document %d (-slowly +got):\n%.2000s", n, diff)
		}
	}
	if len(a.gatherer.lexicon) > 2*maxLexicon {
		t.Errorf("%d terms are kept, want fewer than %d", len(a.gatherer.lexicon), 2*maxLexicon)
	}
}
