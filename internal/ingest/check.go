package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/store"
)

// CheckReport is what Check found.
type CheckReport struct {
	Incidents int
	Revision  uint64
	// Dangling are the links to cases that are not stored, which is no fault.
	Dangling []Link
	// Faults are contradictions: records that do not decode, an index that
	// does not agree with the records, cycles of recurrence_of.
	Faults []string
}

// Link is a link that a record names.
type Link struct {
	From, To string
	Member   string // "related" or "recurrence_of"
}

// The members that name other cases.
const (
	memberRelated      = "related"
	memberRecurrenceOf = "recurrence_of"
)

// String gives `IL-0002 recurrence_of IL-0001`.
func (l Link) String() string { return l.From + " " + l.Member + " " + l.To }

// Check decodes every record of a store, makes an index of them, and compares
// what the index says with what the records say. The error is one of reading;
// what is wrong with the data is in the report.
func Check(ctx context.Context, log store.Log, concepts *incident.Concepts) (CheckReport, error) {
	snap, err := log.Snapshot(ctx)
	if err != nil {
		return CheckReport{}, err
	}
	defer snap.Close()
	c := newChecker(snap)
	index, err := c.read(ctx, snap, concepts)
	if err != nil {
		return CheckReport{}, err
	}
	c.compare(index)
	c.follow(index)
	if err := c.compareRecords(ctx, snap, index); err != nil {
		return CheckReport{}, err
	}
	return c.report, nil
}

// checker counts, record by record, what the index should hold.
type checker struct {
	report CheckReport
	terms  map[incident.Term]int // incidents by term
	orgs   map[string]int        // incidents by org
	links  map[string][]Link     // by id of a stored record
}

func newChecker(snap store.Snapshot) *checker {
	return &checker{
		report: CheckReport{Revision: snap.Position().Sequence},
		terms:  make(map[incident.Term]int),
		orgs:   make(map[string]int),
		links:  make(map[string][]Link),
	}
}

func (c *checker) fault(format string, args ...any) {
	c.report.Faults = append(c.report.Faults, fmt.Sprintf(format, args...))
}

// read decodes all records and makes an index of those that do.
func (c *checker) read(ctx context.Context, snap store.Snapshot, concepts *incident.Concepts) (*index.Snapshot, error) {
	batch := index.New(concepts).Batch()
	err := manyInOrder(ctx, snap.Records(), recordSize, decodeStored, func(d decoded) error {
		c.report.Incidents++
		if d.err != nil {
			c.fault("%v", d.err)
			return nil //nolint:nilerr // a finding of the check, not a failure to check
		}
		batch.Put(d.incident, d.record.Version, d.record.Sequence)
		c.count(d.incident)
		return nil
	})
	if err != nil {
		batch.Discard()
		return nil, err
	}
	if c.report.Incidents != snap.Len() {
		c.fault("the store has %d records and says %d", c.report.Incidents, snap.Len())
	}
	return batch.Commit(c.report.Revision), nil
}

func (c *checker) count(inc *incident.Incident) {
	for _, t := range termsOf(inc) {
		c.terms[t]++
	}
	if inc.OrgSlug != "" {
		c.orgs[strings.Clone(inc.OrgSlug)]++
	}
	id := strings.Clone(inc.ID)
	links := make([]Link, 0, len(inc.Related)+1)
	for _, to := range inc.Related {
		links = append(links, Link{id, strings.Clone(to), memberRelated})
	}
	if inc.RecurrenceOf != "" {
		links = append(links, Link{id, strings.Clone(inc.RecurrenceOf), memberRecurrenceOf})
	}
	c.links[id] = links
}

// termsOf gives the incident's terms, each once, in the order of vocabularies
// and of the record.
func termsOf(inc *incident.Incident) []incident.Term {
	var terms []incident.Term
	seen := make(map[incident.Term]bool)
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, value := range inc.Values(v) {
			if t := (incident.Term{Vocabulary: v, Slug: strings.Clone(value.Slug)}); !seen[t] {
				seen[t] = true
				terms = append(terms, t)
			}
		}
	}
	return terms
}

// compare compares the index's counts with the records'.
func (c *checker) compare(s *index.Snapshot) {
	if s.Len() != len(c.links) {
		c.fault("the index has %d incidents, the store %d", s.Len(), len(c.links))
	}
	found := 0
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, id := range s.Terms(v) {
			t := s.Term(id)
			if want := c.terms[t.Term]; t.Count != want || s.Postings(id).Len() != want {
				c.fault("the index has %d incidents (%d postings) with %s, the store %d", t.Count, s.Postings(id).Len(), t.Term, want)
			}
			if t.Count > 0 {
				found++
			}
		}
	}
	if found != len(c.terms) {
		c.fault("the index has %d terms, the records %d", found, len(c.terms))
	}
	for _, id := range s.Orgs() {
		o := s.Org(id)
		if want := c.orgs[o.Slug]; o.Count != want || s.OrgIncidents(id).Len() != want {
			c.fault("the index has %d incidents of org %s, the store %d", o.Count, o.Slug, want)
		}
	}
	if got := len(s.Orgs()); got != len(c.orgs) {
		c.fault("the index has %d orgs, the records %d", got, len(c.orgs))
	}
}

// follow lists dangling links and cycles.
func (c *checker) follow(s *index.Snapshot) {
	parents := make(map[string]string)
	for from, links := range c.links {
		for _, l := range links {
			if l.Member == memberRecurrenceOf {
				parents[from] = l.To
			}
		}
		c.report.Dangling = append(c.report.Dangling, c.danglingOf(from)...)
	}
	slices.SortFunc(c.report.Dangling, func(a, b Link) int { return strings.Compare(a.String(), b.String()) })
	for {
		cycle := s.RecurrenceCycle(parents)
		if cycle == nil {
			return
		}
		c.fault("recurrence_of goes in a cycle: %s -> %s", strings.Join(cycle, " -> "), cycle[0])
		for _, id := range cycle {
			parents[id] = "" // cycles have no incident in common: the others stay
		}
	}
}

// compareRecords compares each incident in the index with its record.
func (c *checker) compareRecords(ctx context.Context, snap store.Snapshot, s *index.Snapshot) error {
	return manyInOrder(ctx, snap.Records(), recordSize, decodeStored, func(d decoded) error {
		if d.err != nil {
			return nil //nolint:nilerr // it has been reported, and is not in the index
		}
		n := s.Lookup(d.incident.ID)
		if n == nil {
			c.fault("%s is not in the index", d.incident.ID)
			return nil
		}
		for _, wrong := range c.differences(s, n, d) {
			c.fault("%s: the index has another %s than the record", n.ID, wrong)
		}
		return nil
	})
}

// differences names what differs between an incident in the index and its
// record.
func (c *checker) differences(s *index.Snapshot, n *index.Node, d decoded) []string {
	inc := d.incident
	var wrong []string
	for _, part := range []struct {
		name string
		same bool
	}{
		{"version", n.Version == d.record.Version && n.Revision == d.record.Sequence},
		{"title", slices.Equal(n.Title, inc.Title)},
		{"date", n.Date == inc.Date && n.DateKind == inc.DateKind},
		{"org", orgIn(s, n) == inc.OrgSlug},
		{"region", n.Region == inc.ImpactRegion},
		{"set of terms", slices.Equal(termsIn(s, n), termsOf(inc))},
		{"timeline", n.DetectedAfter == inc.DetectedAfter && n.ResolvedAfter == inc.ResolvedAfter},
		{"updated_at", n.UpdatedAt.Equal(inc.UpdatedAt)},
		{"review", n.Reviewed == inc.Review.Reviewed()},
		{"set of dangling links", slices.Equal(danglingIn(s, n), c.danglingOf(n.ID))},
	} {
		if !part.same {
			wrong = append(wrong, part.name)
		}
	}
	return wrong
}

func orgIn(s *index.Snapshot, n *index.Node) string {
	if n.Org == index.NoOrg {
		return ""
	}
	return s.Org(n.Org).Slug
}

func termsIn(s *index.Snapshot, n *index.Node) []incident.Term {
	var terms []incident.Term
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, t := range n.Terms(v) {
			terms = append(terms, s.Term(t).Term)
		}
	}
	return terms
}

func danglingIn(s *index.Snapshot, n *index.Node) []Link {
	var links []Link
	related, recurrenceOf := s.Unresolved(n)
	for _, to := range related {
		links = append(links, Link{n.ID, to, memberRelated})
	}
	if recurrenceOf != "" {
		links = append(links, Link{n.ID, recurrenceOf, memberRecurrenceOf})
	}
	return links
}

// danglingOf gives the links of a record to cases that are not stored, in the
// order of the record.
func (c *checker) danglingOf(id string) []Link {
	return slices.DeleteFunc(slices.Clone(c.links[id]), func(l Link) bool {
		_, stored := c.links[l.To]
		return stored
	})
}
