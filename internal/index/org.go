package index

import (
	"cmp"
	"slices"
	"strings"
)

// Org is an organisation as the snapshot sees it.
type Org struct {
	ID   OrgID
	Slug string
	// Name is the most used spelling, the bytewise smallest on a tie; the
	// slug in words where no record spells the name.
	Name string
	// Count is the number of incidents.
	Count int
}

// LookupOrg finds an org that has at least one incident.
func (s *Snapshot) LookupOrg(slug string) (OrgID, bool) {
	i, ok := s.names.orgs.lookup(slug)
	if !ok || s.OrgIncidents(OrgID(i)).Len() == 0 {
		return 0, false
	}
	return OrgID(i), true
}

// Org gives an org by number.
func (s *Snapshot) Org(id OrgID) Org {
	state := s.orgs.at(uint32(id))
	slug := s.names.orgs.name(uint32(id))
	name := state.spelling()
	if name == "" {
		name = strings.ReplaceAll(slug, "-", " ")
	}
	return Org{ID: id, Slug: slug, Name: name, Count: state.set().Len()}
}

// OrgIncidents gives the incidents of an org; of NoOrg those without one.
func (s *Snapshot) OrgIncidents(id OrgID) Set {
	if id == NoOrg {
		return s.noOrg
	}
	return s.orgs.at(uint32(id)).set()
}

type orgsKey struct{}

// Orgs gives the orgs with incidents, most incidents first, then by slug. The
// slice is shared: do not change it.
func (s *Snapshot) Orgs() []OrgID {
	return memoized(s, orgsKey{}, func() []OrgID {
		var ids []OrgID
		for id := range OrgID(s.orgCount) {
			if s.OrgIncidents(id).Len() > 0 {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b OrgID) int {
			return cmp.Or(
				cmp.Compare(s.OrgIncidents(b).Len(), s.OrgIncidents(a).Len()),
				cmp.Compare(s.names.orgs.name(uint32(a)), s.names.orgs.name(uint32(b))))
		})
		return ids
	})
}

// Region is where incidents had their impact, as records spell it.
type Region struct {
	Name      string
	Incidents Set
}

type regionsKey struct{}

// Regions gives the regions that incidents name, most incidents first, then
// by name. The slice is shared: do not change it.
func (s *Snapshot) Regions() []Region {
	return memoized(s, regionsKey{}, func() []Region {
		var r []Region
		for i := range uint32(s.regions.len()) {
			if in := s.regions.at(i).set(); in.Len() > 0 && s.names.regions.name(i) != "" {
				r = append(r, Region{s.names.regions.name(i), in})
			}
		}
		slices.SortFunc(r, func(a, b Region) int {
			return cmp.Or(cmp.Compare(b.Incidents.Len(), a.Incidents.Len()), cmp.Compare(a.Name, b.Name))
		})
		return r
	})
}

// region gives the incidents with exactly this region; of "" those without.
func (s *Snapshot) region(name string) Set {
	if i, ok := s.names.regions.lookup(name); ok {
		return s.regions.at(i).set()
	}
	return Set{}
}
