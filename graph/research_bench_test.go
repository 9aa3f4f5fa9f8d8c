package graph

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"incidentgraph/internal/fixture"
)

// BenchmarkResearch sends research queries over 100,000 incidents. The first
// answer of each, which lays out what the statistics count over, is not
// measured.
//
//	go test ./graph -run '^$' -bench Research
func BenchmarkResearch(b *testing.B) {
	const n = 100_000
	var records [][]byte
	for r := range fixture.Records(1, n, fixture.Lite) {
		records = append(records, r)
	}
	in, _ := ingesterOf(b, nil, records...)
	h := NewHandler(Config{Ingester: in})
	id := func(i int) string { return base64.RawURLEncoding.EncodeToString([]byte("i" + fixture.CaseID(i))) }
	for _, tt := range []struct {
		name, query string
		// variables of the i-th request
		variables func(i int) map[string]any
	}{
		{"facets", `{ incidents(first: 0) { facets(vocabularies: [CONTRIBUTING_FACTOR, COMPONENT, SYMPTOM, ROOT_CAUSE, DOMAIN, SEVERITY]) { incidents values { term { slug } incidents shareLow } } } }`, nil},
		{"facets of a part", `{ incidents(first: 0, where: {date: {gte: "2015"}}) { totalCount facets(vocabularies: [CONTRIBUTING_FACTOR, COMPONENT, SYMPTOM, ROOT_CAUSE, DOMAIN, SEVERITY]) { incidents values { term { slug } incidents shareLow } } } }`, nil},
		{"groups by two keys", `{ incidents(first: 0) { groups(by: [CONTRIBUTING_FACTOR, COMPONENT]) { totalGroups groups { keys incidents } } } }`, nil},
		{"groups with durations and samples", `{ incidents(first: 0) { groups(by: [YEAR]) { groups { keys sample { caseId } durations(of: RESOLVED_AFTER) { median { text } } } } } }`, nil},
		{"series", `{ incidents(first: 0) { timeSeries(interval: YEAR, by: CONTRIBUTING_FACTOR) { start key incidents } } }`, nil},
		{"durations", `{ incidents(first: 0) { durations(of: RESOLVED_AFTER) { median { text } medianLow { text } mean { text } histogram { count } } } }`, nil},
		{"associations", `{ incidents(first: 0) { associations(left: CONTRIBUTING_FACTOR, right: CONTRIBUTING_FACTOR) { left { slug } right { slug } both npmi q } } }`, nil},
		{"filtered page", `query ($f: [String!], $c: [String!]) { incidents(where: {contributingFactors: {any: $f}, components: {any: $c}}) { totalCount nodes { caseId date title { text } } } }`,
			func(i int) map[string]any {
				factors, components := fixture.Incidents(1, 200)[i%200].Contributing, fixture.Incidents(1, 200)[i%200].Components
				return map[string]any{"f": []string{factors[0].Slug}, "c": []string{components[0].Slug}}
			}},
		{"paths", `query ($a: ID!, $b: ID!) { paths(from: $a, to: $b) { complete visited paths { cost sentence { text } } } }`,
			func(i int) map[string]any { return map[string]any{"a": id(i * 7919 % n), "b": id((i*104729 + 1) % n)} }},
		{"subgraph", `query ($a: ID!) { subgraph(roots: [$a], hops: 2) { nodes { degree node { id } } edges { source target } } }`,
			func(i int) map[string]any { return map[string]any{"a": id(i * 7919 % n)} }},
		{"compare", `query ($a: String!, $b: String!) { compare(left: $a, right: $b) { explanation { sentence { text } } path { cost } daysApart } }`,
			func(i int) map[string]any {
				return map[string]any{"a": fixture.CaseID(i * 7919 % n), "b": fixture.CaseID((i*104729 + 1) % n)}
			}},
		{"assess", `query ($f: [String!]) { assess(draft: {contributingFactors: $f}) { similar { score node { caseId } } consider { right { slug } npmi } resolvedAfter { median { text } } } }`,
			func(i int) map[string]any {
				inc := fixture.Incidents(1, 200)[i%200]
				var slugs []string
				for _, v := range inc.Contributing {
					slugs = append(slugs, v.Slug)
				}
				return map[string]any{"f": slugs}
			}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			bodies := make([][]byte, 50)
			for i := range bodies {
				var variables map[string]any
				if tt.variables != nil {
					variables = tt.variables(i)
				}
				body, err := json.Marshal(map[string]any{"query": tt.query, "variables": variables})
				if err != nil {
					b.Fatal(err)
				}
				bodies[i] = body
			}
			serve(b, h, bodies[0])
			i := 0
			for b.Loop() {
				serve(b, h, bodies[i%len(bodies)])
				i++
			}
		})
	}
}
