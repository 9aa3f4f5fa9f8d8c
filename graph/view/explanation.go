package view

import (
	"fmt"
	"strconv"
	"strings"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
)

// SimilarityExplanation shows how the similarity of two incidents comes about.
type SimilarityExplanation struct {
	op          *Operation
	measure     analysis.Measure
	here, there string // case ids; here is "" for a draft
	explanation analysis.Explanation
}

// Shared are the terms that both have.
func (x *SimilarityExplanation) Shared() []*WeightedTerm { return x.weighted(x.explanation.Shared) }

// OnlyHere are the terms of the case that others are compared with.
func (x *SimilarityExplanation) OnlyHere() []*WeightedTerm { return x.weighted(x.explanation.OnlyHere) }

// OnlyThere are the terms of the other case.
func (x *SimilarityExplanation) OnlyThere() []*WeightedTerm {
	return x.weighted(x.explanation.OnlyThere)
}

// Bits is how much the shared terms tell together.
func (x *SimilarityExplanation) Bits() float64 { return x.explanation.Bits }

func (x *SimilarityExplanation) weighted(terms []analysis.WeightedTerm) []*WeightedTerm {
	out := make([]*WeightedTerm, len(terms))
	for i := range terms {
		out[i] = &WeightedTerm{x.op, &terms[i]}
	}
	return out
}

// WeightedTerm is one term's part in a similarity.
type WeightedTerm struct {
	op *Operation
	w  *analysis.WeightedTerm
}

// Term is the term.
func (w *WeightedTerm) Term() Term { return w.op.term(w.w.Term) }

// Weight is its weight under the measure.
func (w *WeightedTerm) Weight() float64 { return w.w.Weight }

// Share is its weight as a share of all.
func (w *WeightedTerm) Share() float64 { return w.w.Share }

// IncidentCount counts the incidents with the term.
func (w *WeightedTerm) IncidentCount() int { return w.w.Count }

// Sentence says the same in words.
func (x *SimilarityExplanation) Sentence(languages []string) *LocalizedText {
	return x.op.text(incident.Text{
		{Language: "en", Text: x.english()},
		{Language: "ko", Text: x.korean()},
	}, languages)
}

// namedTerms is how many shared terms a sentence names.
const namedTerms = 3

var (
	measuresInEnglish = map[analysis.Measure]string{
		analysis.WeightedJaccard: "weighted Jaccard",
		analysis.Jaccard:         "Jaccard",
		analysis.Overlap:         "overlap coefficient",
		analysis.Cosine:          "cosine",
	}
	measuresInKorean = map[analysis.Measure]string{
		analysis.WeightedJaccard: "가중 자카드",
		analysis.Jaccard:         "자카드",
		analysis.Overlap:         "중첩 계수",
		analysis.Cosine:          "코사인",
	}
)

func (x *SimilarityExplanation) english() string {
	var b strings.Builder
	shared := x.explanation.Shared
	first, here := x.here, x.here
	if x.here == "" {
		first, here = "The draft", "the draft"
	}
	if len(shared) == 0 {
		fmt.Fprintf(&b, "%s and %s share no term", first, x.there)
	} else {
		fmt.Fprintf(&b, "%s and %s share ", first, x.there)
		named := shared[:min(len(shared), namedTerms)]
		for i, w := range named {
			switch {
			case i == 0:
			case i == len(named)-1 && len(named) == len(shared):
				b.WriteString(" and ")
			default:
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "“%s” (in %d of %d incidents)", x.op.labelIn(w.Term, "en"), w.Count, x.op.index.Len())
		}
		if more := len(shared) - len(named); more > 0 {
			fmt.Fprintf(&b, " and %s more", count(more, "term"))
		}
	}
	fmt.Fprintf(&b, "; %s only in %s, %d only in %s. The score is %s (%s).",
		count(len(x.explanation.OnlyHere), "term is", "terms are"), here,
		len(x.explanation.OnlyThere), x.there, score(x.explanation.Score), measuresInEnglish[x.measure])
	return b.String()
}

// count writes a number with its noun; the plural is the noun with an s where
// none is given.
func count(n int, forms ...string) string {
	form := forms[0]
	switch {
	case n == 1:
	case len(forms) > 1:
		form = forms[1]
	default:
		form += "s"
	}
	return strconv.Itoa(n) + " " + form
}

func score(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

func (x *SimilarityExplanation) korean() string {
	var b strings.Builder
	shared := x.explanation.Shared
	here := x.here
	if here == "" {
		here = "초안"
	}
	if len(shared) == 0 {
		b.WriteString("두 사건에 공통된 항목이 없다")
	} else {
		b.WriteString("두 사건에 공통된 항목은 ")
		named := shared[:min(len(shared), namedTerms)]
		for i, w := range named {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "‘%s’(사건 %d건 중 %d건)", x.op.labelIn(w.Term, "ko"), x.op.index.Len(), w.Count)
		}
		if more := len(shared) - len(named); more > 0 {
			fmt.Fprintf(&b, " 외 %d개", more)
		}
		b.WriteString("이다")
	}
	fmt.Fprintf(&b, ". %s에만 있는 항목은 %d개, %s에만 있는 항목은 %d개다. 점수는 %s(%s)이다.",
		here, len(x.explanation.OnlyHere), x.there, len(x.explanation.OnlyThere),
		score(x.explanation.Score), measuresInKorean[x.measure])
	return b.String()
}
