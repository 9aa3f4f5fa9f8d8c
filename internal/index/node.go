package index

import (
	"math"
	"slices"
	"strings"
	"time"

	"incidentgraph/internal/incident"
)

// Node is what the index keeps of one incident: the fields that lists,
// filters and statistics need without reading the record. It is immutable.
type Node struct {
	Ord      Ord
	Org      OrgID // NoOrg where the record has none
	ID       string
	Title    incident.Text
	Date     incident.Date
	RegionID uint32 // dense number of Region; that of "" too
	DateKind string
	Region   string
	// terms of the six vocabularies in record order, duplicates removed, and
	// with each the number of the spelling that the record uses; spelling is
	// nil where all are spelled as their slug.
	terms    []TermID
	spelling []uint32
	starts   [incident.VocabularyCount + 1]uint32
	// orgSpelling is the number of the org's name in this record.
	orgSpelling uint32
	// DetectedAfter and ResolvedAfter as recorded.
	DetectedAfter, ResolvedAfter incident.Duration
	UpdatedAt                    time.Time // zero if none
	Version, Revision            uint64
	// related are the targets that this record names; recurrenceOf the one
	// it repeats. Targets may have no node.
	related      []Ord
	recurrenceOf Ord
	hasParent    bool
	Reviewed     bool
}

// Terms gives the terms of one vocabulary in record order. The slice is the
// node's.
func (n *Node) Terms(v incident.Vocabulary) []TermID { return n.terms[n.starts[v]:n.starts[v+1]] }

// newNode takes what the index keeps of an incident, without memory of inc.
func (x *Index) newNode(inc *incident.Incident) *Node {
	o := x.names.ord(inc.ID)
	n := &Node{
		Ord:         o,
		ID:          x.names.cases.name(uint32(o)),
		Date:        inc.Date,
		DateKind:    x.w.word(inc.DateKind),
		Org:         NoOrg,
		orgSpelling: unspelled,
		RegionID:    intern(x.names.regions, inc.ImpactRegion),
		UpdatedAt:   inc.UpdatedAt,
		Reviewed:    inc.Review.Reviewed(),
	}
	n.Region = x.names.regions.name(n.RegionID)
	if inc.OrgSlug != "" {
		n.Org = OrgID(intern(x.names.orgs, inc.OrgSlug))
		if inc.Org != "" {
			n.orgSpelling = intern(x.names.spelling, inc.Org)
		}
	}
	x.keepTexts(n, inc)
	x.keepTerms(n, inc)
	x.keepLinks(n, inc)
	return n
}

// word gives the one kept copy of a string that many records share.
func (w *writer) word(s string) string {
	if k, ok := w.words[s]; ok {
		return k
	}
	s = strings.Clone(s)
	w.words[s] = s
	return s
}

// keepTexts copies the title and the durations.
func (x *Index) keepTexts(n *Node, inc *incident.Incident) {
	texts := &x.w.slabs.texts
	if len(inc.Title) > 0 {
		n.Title = x.w.slabs.titles.take(len(inc.Title))
	}
	for i, t := range inc.Title {
		n.Title[i] = incident.LanguageText{Language: x.w.word(t.Language), Text: texts.keep(t.Text)}
	}
	n.DetectedAfter, n.ResolvedAfter = inc.DetectedAfter, inc.ResolvedAfter
	n.DetectedAfter.Text = texts.keep(n.DetectedAfter.Text)
	n.ResolvedAfter.Text = texts.keep(n.ResolvedAfter.Text)
}

func (x *Index) keepTerms(n *Node, inc *incident.Incident) {
	terms, spelling, own := x.w.termsBuffer[:0], x.w.spellingBuffer[:0], false
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		values := inc.Values(v)
		seen := newSeen[TermID](len(values))
		for _, value := range values {
			if value.Slug == "" {
				continue
			}
			t := x.names.term(v, value.Slug)
			if seen.has(terms[n.starts[v]:], t) {
				continue
			}
			terms = append(terms, t)
			if value.Text == value.Slug {
				spelling = append(spelling, asSlug)
			} else {
				spelling = append(spelling, intern(x.names.spelling, value.Text))
				own = true
			}
		}
		n.starts[v+1] = uint32(len(terms))
	}
	n.terms = x.w.slabs.terms.keep(terms)
	if own {
		n.spelling = x.w.slabs.numbers.keep(spelling)
	}
	x.w.termsBuffer, x.w.spellingBuffer = terms, spelling
}

// termSpelling gives the spelling of the i-th term.
func (n *Node) termSpelling(i int) uint32 {
	if n.spelling == nil {
		return asSlug
	}
	return n.spelling[i]
}

func (x *Index) keepLinks(n *Node, inc *incident.Incident) {
	related := x.w.ordBuffer[:0]
	seen := newSeen[Ord](len(inc.Related))
	for _, id := range inc.Related {
		if t := x.names.ord(id); t != n.Ord && !seen.has(related, t) {
			related = append(related, t)
		}
	}
	n.related = x.w.slabs.ords.keep(related)
	x.w.ordBuffer = related
	if id := inc.RecurrenceOf; id != "" && id != inc.ID {
		n.recurrenceOf, n.hasParent = x.names.ord(id), true
	}
}

// seen holds the elements of a list that is too long to be searched; it is
// nil where the list is short.
type seen[T comparable] map[T]struct{}

func newSeen[T comparable](n int) seen[T] {
	if n <= 32 {
		return nil
	}
	return make(seen[T], n)
}

// has tells whether x is in the list, and takes note of x.
func (s seen[T]) has(list []T, x T) bool {
	if s == nil {
		return slices.Contains(list, x)
	}
	_, ok := s[x]
	s[x] = struct{}{}
	return ok
}

// value gives a node's sort value in a field; false where it has none.
func (s *Snapshot) value(n *Node, f Field) (int64, bool) {
	switch f {
	case ByDate:
		return int64(n.Date), n.Date != 0
	case ByUpdatedAt:
		return nanoseconds(n.UpdatedAt), !n.UpdatedAt.IsZero()
	case ByResolvedAfter:
		return seconds(n.ResolvedAfter.Seconds), n.ResolvedAfter.Known
	case byDetectedAfter:
		return seconds(n.DetectedAfter.Seconds), n.DetectedAfter.Known
	case ByLinkCount:
		return int64(s.LinkCount(n)), true
	}
	return 0, true
}

// nanoseconds gives t since 1970; times that int64 cannot hold (before 1678,
// after 2261) count as the nearest that it can.
func nanoseconds(t time.Time) int64 {
	switch s := t.Unix(); {
	case s <= math.MinInt64/1_000_000_000:
		return math.MinInt64
	case s >= math.MaxInt64/1_000_000_000:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// seconds gives an integer that orders as the number does. Durations are not
// negative; a bound below zero is as good as zero.
func seconds(s float64) int64 {
	if s <= 0 {
		return 0
	}
	return int64(math.Float64bits(s))
}
