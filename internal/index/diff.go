package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"incidentgraph/internal/incident"
)

// maxDifferences is how many differences Diff tells in full.
const maxDifferences = 100

// Diff tells in what two snapshots differ, by names and not by numbers: the
// incidents with all that the index keeps of them, their links as followed
// from either end, terms, orgs and languages. It gives nothing for snapshots
// that answer every question alike, and at most 101 lines, the last of which
// counts what was left out.
func Diff(a, b *Snapshot) []string {
	d := differ{a: a, b: b}
	for _, id := range union(a.ids(), b.ids()) {
		d.compare("incident "+id, a.describe(id), b.describe(id))
	}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, slug := range union(a.slugs(v), b.slugs(v)) {
			t := incident.Term{Vocabulary: v, Slug: slug}
			d.compare("term "+t.String(), a.describeTerm(t), b.describeTerm(t))
		}
	}
	for _, slug := range union(a.orgSlugs(), b.orgSlugs()) {
		d.compare("org "+slug, a.describeOrg(slug), b.describeOrg(slug))
	}
	d.compare("languages", fmt.Sprint(a.languages), fmt.Sprint(b.languages))
	d.compare("number of incidents", fmt.Sprint(a.Len()), fmt.Sprint(b.Len()))
	if d.omitted > 0 {
		d.lines = append(d.lines, fmt.Sprintf("and %d more", d.omitted))
	}
	return d.lines
}

type differ struct {
	a, b    *Snapshot
	lines   []string
	omitted int
}

func (d *differ) compare(what, a, b string) {
	switch {
	case a == b:
	case len(d.lines) < maxDifferences:
		d.lines = append(d.lines, fmt.Sprintf("%s: %s, other: %s", what, a, b))
	default:
		d.omitted++
	}
}

// union merges two sorted lists.
func union(a, b []string) []string {
	r := slices.Concat(a, b)
	slices.Sort(r)
	return slices.Compact(r)
}

func (s *Snapshot) ids() []string {
	ids := make([]string, 0, s.Len())
	for o := range s.all.All() {
		ids = append(ids, s.CaseID(o))
	}
	return ids
}

func (s *Snapshot) slugs(v incident.Vocabulary) []string {
	var slugs []string
	for _, id := range s.Terms(v) {
		slugs = append(slugs, s.slug(id))
	}
	return slugs
}

func (s *Snapshot) orgSlugs() []string {
	var slugs []string
	for _, id := range s.Orgs() {
		slugs = append(slugs, s.Org(id).Slug)
	}
	return slugs
}

// absent is how Diff calls what a snapshot does not have.
const absent = "absent"

func (s *Snapshot) describe(id string) string {
	n := s.Lookup(id)
	if n == nil {
		return absent
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version %d, revision %d, title %q, date %q, date kind %q, region %q, updated %v, reviewed %t",
		n.Version, n.Revision, n.Title, n.Date, n.DateKind, n.Region, n.UpdatedAt.UTC(), n.Reviewed)
	fmt.Fprintf(&b, ", detected after %+v, resolved after %+v", n.DetectedAfter, n.ResolvedAfter)
	if n.Org != NoOrg {
		fmt.Fprintf(&b, ", org %q", s.Org(n.Org).Slug)
		fmt.Fprintf(&b, " listed %t", s.OrgIncidents(n.Org).Has(n.Ord))
	}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, t := range n.Terms(v) {
			fmt.Fprintf(&b, ", %s/%s listed %t", v, s.slug(t), s.Postings(t).Has(n.Ord))
		}
		fmt.Fprintf(&b, ", counted %t", s.WithTermCount(v, len(n.Terms(v))).Has(n.Ord))
	}
	for _, r := range s.Related(n) {
		fmt.Fprintf(&b, ", related %s direction %d", s.CaseID(r.Ord), r.Direction)
	}
	if p := s.RecurrenceOf(n); p != nil {
		fmt.Fprintf(&b, ", recurrence of %s", p.ID)
	}
	for _, id := range s.sortedIDs(s.Recurrences(n)) {
		fmt.Fprintf(&b, ", recurrence %s", id)
	}
	related, parent := s.Unresolved(n)
	fmt.Fprintf(&b, ", unresolved %q %q", related, parent)
	fmt.Fprintf(&b, ", in sets %t %t %t %t", s.all.Has(n.Ord), s.reviewed.Has(n.Ord), s.noOrg.Has(n.Ord), s.region(n.Region).Has(n.Ord))
	return b.String()
}

func (s *Snapshot) sortedIDs(set Set) []string {
	var ids []string
	for o := range set.All() {
		ids = append(ids, s.CaseID(o))
	}
	slices.SortFunc(ids, cmp.Compare[string])
	return ids
}

func (s *Snapshot) describeTerm(t incident.Term) string {
	id, ok := s.LookupTerm(t)
	if !ok {
		return absent
	}
	x := s.Term(id)
	return fmt.Sprintf("%d incidents, written %q, listed %t", x.Count, x.Written, x.Concept != nil)
}

func (s *Snapshot) describeOrg(slug string) string {
	id, ok := s.LookupOrg(slug)
	if !ok {
		return absent
	}
	x := s.Org(id)
	return fmt.Sprintf("%d incidents, name %q", x.Count, x.Name)
}
