// Package incident is the domain: incident case records, the controlled
// vocabularies that describe them, and the links between them. It decides
// what one record can know about itself; it knows nothing of storage or of
// GraphQL.
package incident
