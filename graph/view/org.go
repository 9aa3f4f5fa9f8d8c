package view

import (
	"incidentgraph/graph/model"
	"incidentgraph/internal/index"
)

// Org is an organisation that had incidents.
type Org struct {
	op *Operation
	index.Org
}

func (o *Operation) org(id index.OrgID) *Org { return &Org{o, o.index.Org(id)} }

// Org finds an organisation; nil where it has no incident.
func (o *Operation) Org(slug string) *Org {
	id, ok := o.index.LookupOrg(slug)
	if !ok {
		return nil
	}
	return o.org(id)
}

// ID is the node id.
func (o *Org) ID() string { return nodeID(orgID, o.Org.Slug) }

// Slug identifies the organisation.
func (o *Org) Slug() string { return o.Org.Slug }

// Name is the spelling most used.
func (o *Org) Name() string { return o.Org.Name }

// Incidents are those of the organisation.
func (o *Org) Incidents(where *model.IncidentFilter, orderBy []*model.IncidentOrder, first *int, after *string, last *int, before *string) (*IncidentConnection, error) {
	return o.op.incidents(o.op.index.OrgIncidents(o.Org.ID), where, orderBy, PageArgs{First: first, After: after, Last: last, Before: before})
}

// RecurrenceChains are the chains that one of its incidents is part of.
func (o *Org) RecurrenceChains(minSize *int, first *int, after *string) (*RecurrenceChainConnection, error) {
	return o.op.chains(o.op.index.OrgIncidents(o.Org.ID), minSize, PageArgs{First: first, After: after})
}

// OrgConnection is a list of organisations, in pages.
type OrgConnection struct {
	connection[*Org, *OrgEdge]
}

// OrgEdge is one element of a list of organisations.
type OrgEdge struct {
	Node *Org
	at   place
}

func (e *OrgEdge) node() *Org { return e.Node }

// Cursor is the element's place in the list.
func (e *OrgEdge) Cursor() string { return e.at.cursor() }

// IncidentCount counts the organisation's incidents.
func (e *OrgEdge) IncidentCount() int { return e.Node.Count }

// Orgs lists all organisations.
func (o *Operation) Orgs(a PageArgs) (*OrgConnection, error) {
	p, err := o.check(a, orgList, "", 1)
	if err != nil {
		return nil, err
	}
	ids := o.index.Orgs()
	at := func(i int) *place {
		org := o.index.Org(ids[i])
		return countPlace(orgList, "", org.Count, org.Slug)
	}
	return &OrgConnection{listed(p, len(ids), at, func(i int) *OrgEdge {
		return &OrgEdge{Node: o.org(ids[i]), at: *at(i)}
	})}, nil
}
