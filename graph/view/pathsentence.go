package view

import (
	"fmt"
	"strconv"
	"strings"

	"incidentgraph/internal/index"
)

// clause is a part of a path that a sentence says in one go: from an incident
// by what it shares to another, from one incident to another by a link, or the
// half of the former at an end of the path. Only hub is there in each.
type clause struct {
	from, to *index.Node // nil at an end of the path that is no incident
	hub      string      // name of a term or org, in quotes; "" for a link
	kind     index.EdgeKind
	repeats  bool // of a recurrence: whether from repeats to
}

// clauses divides a path, with the names of terms in one language.
func (p *GraphPath) clauses(language string, quotes [2]string) []clause {
	var list []clause
	steps := p.path.Steps
	node := func(n index.NodeRef) *index.Node {
		if n.Kind != index.IncidentNode {
			return nil
		}
		return p.op.index.Node(index.Ord(n.N))
	}
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		c := clause{from: node(s.From), to: node(s.To), kind: s.Edge}
		switch {
		case c.from == nil:
			c.hub = p.hub(s.From, language, quotes)
		case c.to == nil:
			c.hub = p.hub(s.To, language, quotes)
			if i+1 < len(steps) {
				i++
				c.to = node(steps[i].To)
			}
		case s.Edge == index.RecurrenceEdge:
			parent := p.op.index.RecurrenceOf(c.from)
			c.repeats = parent != nil && parent.Ord == c.to.Ord
		}
		list = append(list, c)
	}
	return list
}

// hub names a term or an org.
func (p *GraphPath) hub(n index.NodeRef, language string, quotes [2]string) string {
	var name string
	if n.Kind == index.OrgNode {
		name = p.op.index.Org(index.OrgID(n.N)).Name
	} else {
		name = p.op.labelIn(index.TermID(n.N), language)
	}
	return quotes[0] + name + quotes[1]
}

// labelIn names a term in one language, in another where it has no name in it.
func (o *Operation) labelIn(id index.TermID, language string) string {
	t := o.index.Term(id)
	text := label(&t)
	i, _ := Languages{language}.choose(text)
	return text[i].Text
}

var hubsInEnglish = map[index.EdgeKind]string{
	index.FactorEdge:    "contributing factor",
	index.ComponentEdge: "component",
	index.SymptomEdge:   "symptom",
	index.RootCauseEdge: "root cause",
	index.DomainEdge:    "domain",
	index.OrgEdge:       "organisation",
}

// english says the path in one sentence, each clause hanging on the incident
// that the one before ends with.
func (p *GraphPath) english() string {
	var b strings.Builder
	for i, c := range p.clauses("en", [2]string{"“", "”"}) {
		switch {
		case i > 0:
			b.WriteString(", which ")
		case c.from != nil:
			b.WriteString(c.from.ID + " ")
		}
		hub := hubsInEnglish[c.kind] + " " + c.hub
		switch {
		case c.from == nil && c.kind == index.OrgEdge:
			fmt.Fprintf(&b, "The %s had %s", hub, c.to.ID)
		case c.from == nil:
			fmt.Fprintf(&b, "The %s occurs in %s", hub, c.to.ID)
		case c.to == nil && c.kind == index.OrgEdge:
			fmt.Fprintf(&b, "is of the %s", hub)
		case c.to == nil:
			fmt.Fprintf(&b, "has the %s", hub)
		case c.hub != "":
			fmt.Fprintf(&b, "shares the %s with %s", hub, c.to.ID)
		case c.kind == index.RelatedEdge:
			fmt.Fprintf(&b, "is related to %s", c.to.ID)
		case c.repeats:
			fmt.Fprintf(&b, "repeats %s", c.to.ID)
		default:
			fmt.Fprintf(&b, "is repeated by %s", c.to.ID)
		}
	}
	fmt.Fprintf(&b, " (%s, cost %s).", count(p.Hops(), "hop"), cost(p.Cost()))
	return b.String()
}

func cost(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

var hubsInKorean = map[index.EdgeKind]string{
	index.FactorEdge:    "기여 요인",
	index.ComponentEdge: "구성 요소",
	index.SymptomEdge:   "증상",
	index.RootCauseEdge: "근본 원인",
	index.DomainEdge:    "분야",
}

// korean says the path in a sentence for each clause. Particles that depend on
// the sound before them stand after words of the sentence's own, never after
// ids or names.
func (p *GraphPath) korean() string {
	var b strings.Builder
	for _, c := range p.clauses("ko", [2]string{"‘", "’"}) {
		hub := hubsInKorean[c.kind] + " " + c.hub
		switch {
		case c.kind == index.OrgEdge && c.from == nil:
			fmt.Fprintf(&b, "%s 사건은 %s 조직의 사건이다. ", c.to.ID, c.hub)
		case c.kind == index.OrgEdge && c.to == nil:
			fmt.Fprintf(&b, "%s 사건은 %s 조직의 사건이다. ", c.from.ID, c.hub)
		case c.kind == index.OrgEdge:
			fmt.Fprintf(&b, "%s 사건과 %s 사건은 모두 %s 조직의 사건이다. ", c.from.ID, c.to.ID, c.hub)
		case c.from == nil:
			fmt.Fprintf(&b, "%s 항목은 %s 사건에 있다. ", hub, c.to.ID)
		case c.to == nil:
			fmt.Fprintf(&b, "%s 사건에는 %s 항목이 있다. ", c.from.ID, hub)
		case c.hub != "":
			fmt.Fprintf(&b, "%s 사건과 %s 사건에는 %s 항목이 함께 있다. ", c.from.ID, c.to.ID, hub)
		case c.kind == index.RelatedEdge:
			fmt.Fprintf(&b, "%s 사건과 %s 사건은 서로 관련된다. ", c.from.ID, c.to.ID)
		case c.repeats:
			fmt.Fprintf(&b, "%s 사건은 %s 사건의 재발이다. ", c.from.ID, c.to.ID)
		default:
			fmt.Fprintf(&b, "%s 사건은 %s 사건의 재발이다. ", c.to.ID, c.from.ID)
		}
	}
	fmt.Fprintf(&b, "(%d단계, 비용 %s)", p.Hops(), cost(p.Cost()))
	return b.String()
}
