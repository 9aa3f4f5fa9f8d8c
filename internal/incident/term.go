package incident

import "fmt"

// Vocabulary is one of the six controlled vocabularies (SKOS concept schemes)
// that incidents are described with.
type Vocabulary uint8

// The vocabularies. Their order is fixed: it is the order of sums over
// several vocabularies, so that results are the same to the last bit.
const (
	ContributingFactor Vocabulary = iota
	Component
	Symptom
	RootCause
	Domain
	Severity
	// VocabularyCount is the number of vocabularies, for arrays over them.
	VocabularyCount = iota
)

var vocabularyNames = [VocabularyCount]string{
	"CONTRIBUTING_FACTOR", "COMPONENT", "SYMPTOM", "ROOT_CAUSE", "DOMAIN", "SEVERITY",
}

// String gives the vocabulary's name in upper case, as in the GraphQL schema.
func (v Vocabulary) String() string {
	if int(v) < len(vocabularyNames) {
		return vocabularyNames[v]
	}
	return fmt.Sprintf("VOCABULARY(%d)", uint8(v))
}

// ParseVocabulary reads a vocabulary's name as String writes it; the short
// name FACTOR is taken for CONTRIBUTING_FACTOR.
func ParseVocabulary(s string) (Vocabulary, bool) {
	if s == "FACTOR" {
		return ContributingFactor, true
	}
	for i, n := range vocabularyNames {
		if n == s {
			return Vocabulary(i), true
		}
	}
	return 0, false
}

// Value is a vocabulary value of a record: the text as written and the slug
// of the term that it names. The zero Value is no value.
type Value struct {
	Text, Slug string
}

// Term identifies a vocabulary term.
type Term struct {
	Vocabulary Vocabulary
	Slug       string
}

// String gives "CONTRIBUTING_FACTOR/retry-storm".
func (t Term) String() string { return t.Vocabulary.String() + "/" + t.Slug }
