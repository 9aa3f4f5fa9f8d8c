package view

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"incidentgraph/internal/incident"
)

// A node id is, in base64url without padding, one byte for the type and the
// object's key in the store:
//
//	i caseId               Incident
//	o slug                 Org
//	f c s r d v slug       ContributingFactor, Component, Symptom, RootCause, Domain, Severity
//	a uvarint(n) caseId    ActionItem: the n-th of the incident, from 0
//	n caseId               RecurrenceChain with this root
const (
	incidentID   = 'i'
	orgID        = 'o'
	actionItemID = 'a'
	chainID      = 'n'
)

// termIDs holds the type bytes of the six vocabularies.
var termIDs = [incident.VocabularyCount]byte{
	incident.ContributingFactor: 'f',
	incident.Component:          'c',
	incident.Symptom:            's',
	incident.RootCause:          'r',
	incident.Domain:             'd',
	incident.Severity:           'v',
}

// idEncoding takes each id in one spelling only, line breaks apart.
var idEncoding = base64.RawURLEncoding.Strict()

// maxNodeID bounds the work on an id from outside: a type byte, a position and
// 128 characters are less.
const maxNodeID = 256

func nodeID(kind byte, key string) string {
	var buf [160]byte
	raw := append(append(buf[:0], kind), key...)
	return idEncoding.EncodeToString(raw)
}

func itemID(caseID string, n int) string {
	var buf [160]byte
	raw := binary.AppendUvarint(append(buf[:0], actionItemID), uint64(n))
	return idEncoding.EncodeToString(append(raw, caseID...))
}

// splitNodeID gives the type and the key of an id, false where it is none.
func splitNodeID(id string) (kind byte, key string, ok bool) {
	if len(id) > maxNodeID {
		return 0, "", false
	}
	raw, err := idEncoding.DecodeString(id)
	if err != nil || len(raw) < 2 || strings.ContainsAny(id, "\r\n") { // which base64 skips
		return 0, "", false
	}
	return raw[0], string(raw[1:]), true
}

// splitItemKey gives an action item's position and case id.
func splitItemKey(key string) (n int, caseID string, ok bool) {
	pos, size := binary.Uvarint([]byte(key))
	if size <= 0 || pos > incident.MaxRecordBytes || itemID(key[size:], int(pos)) != nodeID(actionItemID, key) {
		return 0, "", false
	}
	return int(pos), key[size:], true
}

// Node finds what an id names; nil where there is nothing.
func (o *Operation) Node(id string) (Node, error) {
	kind, key, ok := splitNodeID(id)
	if !ok {
		return nil, nil
	}
	switch kind {
	case incidentID:
		if i := o.Incident(key); i != nil {
			return i, nil
		}
		return nil, nil
	case orgID:
		if org := o.Org(key); org != nil {
			return org, nil
		}
		return nil, nil
	case chainID:
		if c := o.chainOf(key); c != nil {
			return c, nil
		}
		return nil, nil
	case actionItemID:
		return o.actionItem(key)
	}
	for v, t := range termIDs {
		if t == kind {
			if t := o.Term(incident.Vocabulary(v), key); t != nil {
				return t, nil
			}
		}
	}
	return nil, nil
}

// Nodes finds what each of the ids names.
func (o *Operation) Nodes(ids []string) ([]Node, error) {
	if limit := o.settings.Limits.MaxNodes; len(ids) > limit {
		return nil, &LimitError{Limit: "maxNodes", Max: limit, Value: len(ids), Path: []any{"ids"}}
	}
	nodes := make([]Node, len(ids))
	for i, id := range ids {
		n, err := o.Node(id)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return nodes, nil
}

// actionItem finds an action item by the key of its id.
func (o *Operation) actionItem(key string) (Node, error) {
	n, caseID, ok := splitItemKey(key)
	if !ok {
		return nil, nil
	}
	i := o.Incident(caseID)
	if i == nil {
		return nil, nil
	}
	items, err := i.ActionItems()
	if err != nil || n >= len(items) {
		return nil, err
	}
	return items[n], nil
}
