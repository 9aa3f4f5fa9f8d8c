package constant

import "encoding/json"

// FacetValue is a term's part of a facet.
type FacetValue struct {
	Term      Term
	Incidents int
	Share     float64
}

// UnmarshalJSON takes a term for a factor: what is asked for of it tells no
// difference.
func (v *FacetValue) UnmarshalJSON(b []byte) error {
	var x struct {
		Term      *ContributingFactor
		Incidents int
		Share     float64
	}
	err := json.Unmarshal(b, &x)
	*v = FacetValue{x.Term, x.Incidents, x.Share}
	return err
}

// WeightedTerm is a term that two incidents share.
type WeightedTerm struct {
	Term          Term
	IncidentCount int
}

// UnmarshalJSON takes a term for a factor: what is asked for of it tells no
// difference.
func (w *WeightedTerm) UnmarshalJSON(b []byte) error {
	var x struct {
		Term          *ContributingFactor
		IncidentCount int
	}
	err := json.Unmarshal(b, &x)
	*w = WeightedTerm{x.Term, x.IncidentCount}
	return err
}
