package search

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"incidentgraph/internal/incident"
)

// form is one written form of the name of an org or a term. An org or a term
// is found through its forms, and it is there as long as one of them is.
type form struct {
	// id is the form's document id.
	id    string
	field Field
	text  string
}

// The first byte of a document's id tells what the document is.
const (
	incidentKey = 'i' // and the case id
	orgKey      = 'o' // and slug, 0, hash of the text: a form that records use
	termKey     = 't' // and vocabulary, slug, 0, hash of the text: a form that records use
	labelKey    = 'l' // likewise: a form that the vocabulary lists
)

// vocabularyKey plus the vocabulary's number is its byte in a document's id.
const vocabularyKey = 'A'

// hashBytes is how much of a form's hash its id has.
const hashBytes = 8

func newForm(key string, f Field, text string) form {
	hash := sha256.Sum256([]byte(text))
	id := append(make([]byte, 0, len(key)+1+2*hashBytes), key...)
	return form{string(hex.AppendEncode(append(id, 0), hash[:hashBytes])), f, text}
}

// forms gives the forms that an incident uses, each once.
func forms(inc *incident.Incident) []form {
	var list []form
	seen := make(map[string]bool)
	add := func(f form) {
		if !seen[f.id] {
			seen[f.id] = true
			list = append(list, f)
		}
	}
	for _, name := range orgNames(inc) {
		add(newForm(string(orgKey)+inc.OrgSlug, Org, name))
	}
	for v, f := range termFields {
		for _, value := range inc.Values(incident.Vocabulary(v)) {
			key := string(termKey) + string(rune(vocabularyKey+v)) + value.Slug
			for _, name := range termNames(incident.Term{Slug: value.Slug}, value.Text, nil) {
				add(newForm(key, f, name.Text))
			}
		}
	}
	return list
}

// labelForms gives the forms that the vocabulary lists.
func labelForms(concepts *incident.Concepts) []form {
	var list []form
	for _, c := range concepts.All() {
		v := c.Term.Vocabulary
		key := string(labelKey) + string(rune(vocabularyKey+v)) + c.Term.Slug
		for _, name := range termNames(c.Term, "", concepts) {
			list = append(list, newForm(key, termFields[v], name.Text))
		}
	}
	return list
}

// named reads which org or term a form's document names.
func named(id string) (Kind, incident.Term) {
	name, _, _ := strings.Cut(id[1:], "\x00")
	if id[0] == orgKey {
		return KindOrg, incident.Term{Slug: name}
	}
	return KindTerm, incident.Term{Vocabulary: incident.Vocabulary(name[0] - vocabularyKey), Slug: name[1:]}
}
