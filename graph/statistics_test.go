package graph

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
)

// recordOf writes an incident of fixture.Graph as a record.
func recordOf(t testing.TB, inc *incident.Incident) []byte {
	t.Helper()
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	written := func(values ...incident.Value) []string {
		texts := []string{}
		for _, v := range values {
			if v.Text != "" {
				texts = append(texts, v.Text)
			}
		}
		return texts
	}
	title := map[string]string{}
	for _, l := range inc.Title {
		title[l.Language] = l.Text
	}
	b, err := json.Marshal(map[string]any{
		"id": inc.ID, "org": orNull(inc.Org), "org_slug": orNull(inc.OrgSlug), "date": orNull(inc.Date.String()), "title": title,
		"contributing": written(inc.Contributing...), "components": written(inc.Components...), "symptoms": written(inc.Symptoms...),
		"domain": written(inc.Domains...), "root_cause": orNull(inc.RootCause.Text), "severity": orNull(inc.Severity.Text),
		"impact":   map[string]any{"region": orNull(inc.ImpactRegion)},
		"timeline": map[string]any{"detected_after": orNull(inc.DetectedAfter.Text), "resolved_after": orNull(inc.ResolvedAfter.Text)},
		"related":  inc.Related, "recurrence_of": orNull(inc.RecurrenceOf),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// condition is a filter with what it means.
type condition struct {
	where string
	match func(*incident.Incident) bool
}

func has(values []incident.Value, slug string) bool {
	return slices.ContainsFunc(values, func(v incident.Value) bool { return v.Slug == slug })
}

// someCondition makes a filter from the values that an incident has.
func someCondition(r *rand.Rand, of *incident.Incident, depth int) condition {
	switch k := r.IntN(9); {
	case k == 0 && len(of.Contributing) > 0:
		slug := of.Contributing[0].Slug
		return condition{fmt.Sprintf("{contributingFactors: {any: [%q]}}", slug), func(i *incident.Incident) bool { return has(i.Contributing, slug) }}
	case k == 1 && len(of.Components) > 0:
		slug := of.Components[0].Slug
		return condition{fmt.Sprintf("{components: {none: [%q]}}", slug), func(i *incident.Incident) bool { return !has(i.Components, slug) }}
	case k == 2 && of.OrgSlug != "":
		return condition{fmt.Sprintf("{org: {eq: %q}}", of.OrgSlug), func(i *incident.Incident) bool { return i.OrgSlug == of.OrgSlug }}
	case k == 3 && !of.Date.IsZero():
		return condition{fmt.Sprintf("{date: {gte: %q}}", of.Date), func(i *incident.Incident) bool {
			return !i.Date.IsZero() && !i.Date.FirstDay().Before(of.Date.FirstDay())
		}}
	case k == 4:
		return condition{"{resolvedAfter: {isKnown: true}}", func(i *incident.Incident) bool { return i.ResolvedAfter.Known }}
	case k == 5 && depth > 0:
		c := someCondition(r, of, depth-1)
		return condition{"{not: " + c.where + "}", func(i *incident.Incident) bool { return !c.match(i) }}
	case k == 6 && depth > 0:
		a, b := someCondition(r, of, depth-1), someCondition(r, of, depth-1)
		return condition{"{or: [" + a.where + ", " + b.where + "]}", func(i *incident.Incident) bool { return a.match(i) || b.match(i) }}
	case k == 7 && depth > 0:
		a, b := someCondition(r, of, depth-1), someCondition(r, of, depth-1)
		return condition{"{and: [" + a.where + ", " + b.where + "]}", func(i *incident.Incident) bool { return a.match(i) && b.match(i) }}
	}
	return condition{"{}", func(*incident.Incident) bool { return true }}
}

// keyValues gives the values of a group key of a listed incident, "" for none.
func keyValues(t *testing.T, node any, key string) []string {
	t.Helper()
	text := func(path ...any) []string {
		v := node
		for _, p := range path {
			if v = at(t, v, p); v == nil {
				return []string{""}
			}
		}
		return []string{v.(string)}
	}
	list := func(field string) []string {
		var slugs []string
		for _, v := range at(t, node, field).([]any) {
			slugs = append(slugs, at(t, v, "slug").(string))
		}
		if len(slugs) == 0 {
			return []string{""}
		}
		return slugs
	}
	date := text("date")[0]
	switch key {
	case "ORG":
		return text("org", "slug")
	case "YEAR":
		return []string{date[:min(4, len(date))]}
	case "MONTH", "QUARTER":
		if len(date) < len("2015-09") {
			return []string{""}
		}
		if key == "MONTH" {
			return []string{date[:7]}
		}
		month := int(date[5]-'0')*10 + int(date[6]-'0')
		return []string{fmt.Sprintf("%s-Q%d", date[:4], (month+2)/3)}
	case "ROOT_CAUSE":
		return text("rootCause", "slug")
	case "SEVERITY":
		return text("severity", "slug")
	case "REGION":
		return text("impact", "region")
	case "CONTRIBUTING_FACTOR":
		return list("contributingFactors")
	case "COMPONENT":
		return list("components")
	case "SYMPTOM":
		return list("symptoms")
	}
	return list("domains")
}

var groupKeys = []string{"ORG", "YEAR", "QUARTER", "MONTH", "ROOT_CAUSE", "CONTRIBUTING_FACTOR", "COMPONENT", "SYMPTOM", "SEVERITY", "DOMAIN", "REGION"}

const agreeQuery = `fragment Shown on IncidentConnection {
  totalCount
  nodes {
    caseId date org { slug } rootCause { slug } severity { slug } impact { region } timeline { resolvedAfter { seconds } }
    contributingFactors { slug } components { slug } symptoms { slug } domains { slug }
  }
  ...Statistics
}
fragment Statistics on IncidentConnection {
  facets(vocabularies: [CONTRIBUTING_FACTOR, COMPONENT, SYMPTOM, ROOT_CAUSE, DOMAIN, SEVERITY], top: 100) { vocabulary incidents assignments without omittedValues values { term { slug } incidents share } }
  groups(by: [%[2]s], first: 100) { totalGroups overlapping groups { keys incidents durations(of: RESOLVED_AFTER) { known unknown min { seconds } max { seconds } } sample(first: 100) { caseId } } }
  timeSeries(interval: YEAR, by: %[3]s) { start key incidents }
  durations(of: RESOLVED_AFTER) { known unknown min { seconds } max { seconds } mean { seconds } }
  associations(left: CONTRIBUTING_FACTOR, right: COMPONENT, first: 100) { left { slug } right { slug } both leftCount rightCount total incidents(first: 100) { caseId } }
}
query {
  all: incidents(where: %[1]s, first: 100) { ...Shown }
  page: incidents(where: %[1]s, first: 2, orderBy: [{field: CASE_ID}]) { ...Statistics }
  org(slug: %[4]q) { incidents(where: %[1]s, first: 0) { ...Statistics } }
  ofOrg: incidents(where: {and: [%[1]s, {org: {eq: %[4]q}}]}) { ...Statistics }
  term(vocabulary: CONTRIBUTING_FACTOR, slug: %[5]q) { incidents(where: %[1]s, last: 1) { ...Statistics } }
  ofTerm: incidents(where: {and: [%[1]s, {contributingFactors: {any: %[6]s}}]}) { ...Statistics }
  incident(caseId: %[7]q) { recurrences(first: 1) { ...Statistics } }
  recurrences: incidents(where: {links: [{kind: RECURRENCE_OF, direction: OUTGOING, some: {caseId: {eq: %[7]q}}}]}) { ...Statistics }
}`

// TestStatisticsAgree compares, over random graphs and filters, each statistic
// with what the listed incidents themselves say: filters, lists, totals and
// statistics are about the same set, whatever the page.
func TestStatisticsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for range 25 {
		list := fixture.Graph(r, 5+r.IntN(60))
		var records [][]byte
		for _, inc := range list {
			records = append(records, recordOf(t, inc))
		}
		in, _ := ingesterOf(t, nil, records...)
		h := NewHandler(Config{Ingester: in, Limits: Limits{MaxCost: 1 << 30}})
		for range 8 {
			c := someCondition(r, list[r.IntN(len(list))], 3)
			by := []string{groupKeys[r.IntN(len(groupKeys))]}
			if other := groupKeys[r.IntN(len(groupKeys))]; other != by[0] && r.IntN(2) == 0 {
				by = append(by, other)
			}
			of := list[r.IntN(len(list))]
			slug, known := "none", "[]"
			if len(of.Contributing) > 0 {
				slug = of.Contributing[0].Slug
				known = fmt.Sprintf("[%q]", slug)
			}
			query := fmt.Sprintf(agreeQuery, c.where, strings.Join(by, ", "), by[0], of.OrgSlug, slug, known, of.ID)
			data := ask(t, h, query, nil)
			a := agreement{t, at(t, data, "all").(map[string]any), c.where}
			a.listed(list, c)
			a.facets()
			a.groups(by)
			a.series(by[0])
			a.durations()
			a.associations()
			for name, statistic := range at(t, data, "page").(map[string]any) {
				a.equal(name+" of another page", a.list[name], statistic)
			}
			for name, other := range map[string]string{"org": "ofOrg", "term": "ofTerm"} {
				if owner := data[name]; owner != nil {
					a.equal("statistics of the "+name, data[other], at(t, owner, "incidents"))
				}
			}
			a.equal("statistics of recurrences", data["recurrences"], at(t, data, "incident", "recurrences"))
		}
	}
}

// agreement compares the statistics of one list with its nodes.
type agreement struct {
	t     *testing.T
	list  map[string]any
	where string
}

func (a agreement) nodes() []any { return a.list["nodes"].([]any) }

func (a agreement) equal(what string, want, got any) {
	a.t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		a.t.Fatalf("%s: %s (-want +got):\n%s", a.where, what, diff)
	}
}

func (a agreement) listed(list []*incident.Incident, c condition) {
	var want, got []string
	for _, inc := range list {
		if c.match(inc) {
			want = append(want, inc.ID)
		}
	}
	for _, n := range a.nodes() {
		got = append(got, at(a.t, n, "caseId").(string))
	}
	slices.Sort(want)
	slices.Sort(got)
	a.equal("incidents", want, got)
	a.equal("totalCount", float64(len(want)), a.list["totalCount"])
}

func (a agreement) facets() {
	for _, f := range a.list["facets"].([]any) {
		vocabulary := at(a.t, f, "vocabulary").(string)
		counts, with, assignments := map[string]int{}, 0, 0
		for _, n := range a.nodes() {
			values := keyValues(a.t, n, vocabulary)
			if values[0] == "" {
				continue
			}
			with++
			assignments += len(values)
			for _, v := range values {
				counts[v]++
			}
		}
		var values []any
		for _, slug := range slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
			return cmp.Or(cmp.Compare(counts[y], counts[x]), strings.Compare(x, y))
		}) {
			values = append(values, map[string]any{
				"term": map[string]any{"slug": slug}, "incidents": float64(counts[slug]), "share": float64(counts[slug]) / float64(len(a.nodes())),
			})
		}
		if values == nil {
			values = []any{}
		}
		a.equal("facet "+vocabulary, map[string]any{
			"vocabulary": vocabulary, "incidents": float64(with), "assignments": float64(assignments),
			"without": float64(len(a.nodes()) - with), "omittedValues": 0.0, "values": values,
		}, f)
	}
}

func (a agreement) groups(by []string) {
	members := map[string][]any{}
	for _, n := range a.nodes() {
		second := []string{"-"}
		if len(by) == 2 {
			second = keyValues(a.t, n, by[1])
		}
		for _, x := range keyValues(a.t, n, by[0]) {
			for _, y := range second {
				members[x+"|"+y] = append(members[x+"|"+y], n)
			}
		}
	}
	a.equal("totalGroups", float64(len(members)), at(a.t, a.list, "groups", "totalGroups"))
	sum := 0
	for _, g := range at(a.t, a.list, "groups", "groups").([]any) {
		key := make([]string, 0, 2)
		for _, k := range at(a.t, g, "keys").([]any) {
			s, _ := k.(string)
			key = append(key, s)
		}
		if len(key) == 1 {
			key = append(key, "-")
		}
		in := members[strings.Join(key, "|")]
		sum += len(in)
		var ids []string
		for _, n := range in {
			ids = append(ids, at(a.t, n, "caseId").(string))
		}
		var sample []string
		for _, n := range at(a.t, g, "sample").([]any) {
			sample = append(sample, at(a.t, n, "caseId").(string))
		}
		a.equal(fmt.Sprintf("members of the group %v", key), ids, sample) // in the order of the list, too
		a.equal("incidents of the group", float64(len(in)), at(a.t, g, "incidents"))
		a.range_(in, at(a.t, g, "durations"))
	}
	if overlapping := at(a.t, a.list, "groups", "overlapping").(bool); !overlapping && len(members) <= 100 && sum != len(a.nodes()) {
		a.t.Fatalf("%s: groups by %v add up to %d, want %d", a.where, by, sum, len(a.nodes()))
	}
}

func (a agreement) series(key string) {
	want, got := map[string]float64{}, map[string]float64{}
	for _, n := range a.nodes() {
		year := keyValues(a.t, n, "YEAR")[0]
		if year == "" {
			continue
		}
		for _, k := range keyValues(a.t, n, key) {
			want[year+"|"+k]++
		}
	}
	for _, p := range a.list["timeSeries"].([]any) {
		k, _ := at(a.t, p, "key").(string)
		if n := at(a.t, p, "incidents").(float64); n > 0 {
			got[at(a.t, p, "start").(string)+"|"+k] = n
		}
	}
	a.equal("time series by "+key, want, got)
}

// range_ compares known and unknown durations and their range.
func (a agreement) range_(nodes []any, got any) {
	low, high, known := math.Inf(1), 0.0, 0
	for _, n := range nodes {
		if d, ok := at(a.t, n, "timeline", "resolvedAfter").(map[string]any); ok && d["seconds"] != nil {
			known++
			low, high = min(low, d["seconds"].(float64)), max(high, d["seconds"].(float64))
		}
	}
	a.equal("known durations", float64(known), at(a.t, got, "known"))
	a.equal("unknown durations", float64(len(nodes)-known), at(a.t, got, "unknown"))
	if known > 0 {
		a.equal("shortest", low, at(a.t, got, "min", "seconds"))
		a.equal("longest", high, at(a.t, got, "max", "seconds"))
	}
}

func (a agreement) durations() { a.range_(a.nodes(), a.list["durations"]) }

func (a agreement) associations() {
	both := map[string][]string{}
	counts := map[string]int{}
	for _, n := range a.nodes() {
		factors, components := keyValues(a.t, n, "CONTRIBUTING_FACTOR"), keyValues(a.t, n, "COMPONENT")
		for _, x := range factors {
			counts["f"+x]++
		}
		for _, y := range components {
			counts["c"+y]++
		}
		for _, x := range factors {
			for _, y := range components {
				if x != "" && y != "" {
					both[x+"|"+y] = append(both[x+"|"+y], at(a.t, n, "caseId").(string))
				}
			}
		}
	}
	found := a.list["associations"].([]any)
	a.equal("number of associations", min(len(both), 100), len(found))
	for _, f := range found {
		left, right := at(a.t, f, "left", "slug").(string), at(a.t, f, "right", "slug").(string)
		var ids []string
		for _, n := range at(a.t, f, "incidents").([]any) {
			ids = append(ids, at(a.t, n, "caseId").(string))
		}
		a.equal("incidents with "+left+" and "+right, both[left+"|"+right], ids)
		for name, want := range map[string]int{"both": len(ids), "leftCount": counts["f"+left], "rightCount": counts["c"+right], "total": len(a.nodes())} {
			a.equal(name, float64(want), at(a.t, f, name))
		}
	}
}

// TestStatisticsSayWhatIsWrong asks for what the statistics, paths and drafts
// refuse: each refusal has a code and the path to the argument.
func TestStatisticsSayWhatIsWrong(t *testing.T) {
	h := testHandler(t, Config{Limits: Limits{MaxHops: 4, MaxNodes: 20, MaxPageSize: 50}})
	incident, other, severity := `"aVQtMDAx"`, `"aVQtMDA0"`, `"dm1ham9y"`
	for _, c := range []struct {
		query, code string
		path        []any
	}{
		{`{ incidents { facets(vocabularies: []) { without } } }`, codeBadInput, []any{"vocabularies"}},
		{`{ incidents { facets(vocabularies: [COMPONENT, DOMAIN, COMPONENT]) { without } } }`, codeBadInput, []any{"vocabularies", 2.0}},
		{`{ incidents { facets(vocabularies: [COMPONENT], top: -1) { without } } }`, codeBadInput, []any{"top"}},
		{`{ incidents { facets(vocabularies: [COMPONENT], top: 51) { without } } }`, codeLimit, []any{"top"}},
		{`{ incidents { groups(by: []) { totalGroups } } }`, codeBadInput, []any{"by"}},
		{`{ incidents { groups(by: [ORG, YEAR, MONTH]) { totalGroups } } }`, codeBadInput, []any{"by"}},
		{`{ incidents { groups(by: [ORG, ORG]) { totalGroups } } }`, codeBadInput, []any{"by", 1.0}},
		{`{ incidents { groups(by: [ORG], minCount: -1) { totalGroups } } }`, codeBadInput, []any{"minCount"}},
		{`{ incidents { groups(by: [ORG], first: -1) { totalGroups } } }`, codeBadInput, []any{"first"}},
		{`{ incidents { groups(by: [ORG], first: 51) { totalGroups } } }`, codeLimit, []any{"first"}},
		{`{ incidents { groups(by: [ORG]) { groups { sample(first: -1) { id } } } } }`, codeBadInput, []any{"first"}},
		{`{ incidents { groups(by: [ORG]) { groups { durations(of: RESOLVED_AFTER) { histogram(bins: 0) { count } } } } } }`, codeBadInput, []any{"bins"}},
		{`{ incidents { durations(of: RESOLVED_AFTER) { histogram(bins: 51) { count } } } }`, codeBadInput, []any{"bins"}},
		{`{ incidents { associations(left: COMPONENT, right: DOMAIN, minSupport: 0) { both } } }`, codeBadInput, []any{"minSupport"}},
		{`{ incidents { associations(left: COMPONENT, right: DOMAIN, first: 1000) { both } } }`, codeLimit, []any{"first"}},
		{`{ incidents { associations(left: COMPONENT, right: SYMPTOM) { incidents(first: 51) { id } } } }`, codeLimit, []any{"first"}},
		{`{ term(vocabulary: COMPONENT, slug: "database") { coOccurring(with: COMPONENT, minSupport: -2) { both } } }`, codeBadInput, []any{"minSupport"}},
		{`{ term(vocabulary: COMPONENT, slug: "database") { coOccurring(with: COMPONENT, where: {domains: {any: ["datebase"]}}) { both } } }`,
			codeUnknownTerm, []any{"where", "domains", "any", 0.0}},
		{`{ paths(from: "x", to: ` + other + `) { complete } }`, codeBadInput, []any{"from"}},
		{`{ paths(from: ` + incident + `, to: ` + severity + `) { complete } }`, codeBadInput, []any{"to"}},
		{`{ paths(from: ` + incident + `, to: ` + incident + `) { complete } }`, codeBadInput, []any{"to"}},
		{`{ paths(from: ` + incident + `, to: ` + other + `, maxHops: 0) { complete } }`, codeBadInput, []any{"maxHops"}},
		{`{ paths(from: ` + incident + `, to: ` + other + `, maxHops: 5) { complete } }`, codeLimit, []any{"maxHops"}},
		{`{ paths(from: ` + incident + `, to: ` + other + `, first: 0) { complete } }`, codeBadInput, []any{"first"}},
		{`{ paths(from: ` + incident + `, to: ` + other + `, first: 51) { complete } }`, codeLimit, []any{"first"}},
		{`{ subgraph(roots: []) { truncated } }`, codeBadInput, []any{"roots"}},
		{`{ subgraph(roots: [` + incident + `, "x"]) { truncated } }`, codeBadInput, []any{"roots", 1.0}},
		{`{ subgraph(roots: [` + incident + `, ` + other + `], maxNodes: 1) { truncated } }`, codeBadInput, []any{"roots"}},
		{`{ subgraph(roots: [` + incident + `], hops: -1) { truncated } }`, codeBadInput, []any{"hops"}},
		{`{ subgraph(roots: [` + incident + `], hops: 5) { truncated } }`, codeLimit, []any{"hops"}},
		{`{ subgraph(roots: [` + incident + `], maxNodes: 0) { truncated } }`, codeBadInput, []any{"maxNodes"}},
		{`{ subgraph(roots: [` + incident + `], maxNodes: 21) { truncated } }`, codeLimit, []any{"maxNodes"}},
		{`{ subgraph(roots: [` + incident + `], where: {links: [{kind: RELATED, minCount: -1}]}) { truncated } }`, codeBadInput, []any{"where", "links", 0.0, "minCount"}},
		{`{ assess(draft: {components: ["cache", "databse"]}) { detectedTerms { slug } } }`, codeUnknownTerm, []any{"draft", "components", 0.0}},
		{`{ assess(draft: {rootCause: "none-such"}) { detectedTerms { slug } } }`, codeUnknownTerm, []any{"draft", "rootCause"}},
		{`{ assess(draft: {}) { similar(first: -1) { rank } } }`, codeBadInput, []any{"first"}},
		{`{ assess(draft: {}) { consider(first: 51) { both } } }`, codeLimit, []any{"first"}},
	} {
		a := decodeAnswer(t, post(t, h, c.query, nil))
		if a.code() != c.code {
			t.Errorf("%s gives %+v, want the code %s", c.query, a, c.code)
			continue
		}
		if diff := gocmp.Diff(c.path, a.Errors[0].Extensions["path"]); diff != "" {
			t.Errorf("%s: path of the error (-want +got):\n%s", c.query, diff)
		}
	}
}

// TestLowLimitsStandIn asks for nothing in particular where the limits are
// lower than what the schema has as defaults.
func TestLowLimitsStandIn(t *testing.T) {
	h := testHandler(t, Config{Limits: Limits{MaxHops: 1, MaxNodes: 3, MaxPageSize: 2}})
	data := ask(t, h, `{ paths(from: "aVQtMDAx", to: "aVQtMDAy") { paths { hops } } subgraph(roots: ["aVQtMDAx"]) { nodes { hop } truncated } incidents { groups(by: [ORG]) { groups { sample { id } } } } }`, nil)
	if got := len(at(t, data, "paths", "paths").([]any)); got != 1 {
		t.Errorf("%d paths of one hop, want 1", got)
	}
	if got := len(at(t, data, "subgraph", "nodes").([]any)); got != 3 || at(t, data, "subgraph", "truncated") != true {
		t.Errorf("a subgraph of %d nodes, want 3 and truncated", got)
	}
	if got := len(at(t, data, "incidents", "groups", "groups").([]any)); got != 2 {
		t.Errorf("%d groups, want 2", got)
	}
}

// TestDraftsAreBounded sends drafts that are too large.
func TestDraftsAreBounded(t *testing.T) {
	h := testHandler(t, Config{Limits: Limits{MaxBodyBytes: 1 << 20}})
	many := slices.Repeat([]string{"database"}, 101)
	for _, c := range []struct {
		draft map[string]any
		path  []any
	}{
		{map[string]any{"text": strings.Repeat("가", 100_001)}, []any{"draft", "text"}},
		{map[string]any{"components": many}, []any{"draft"}},
	} {
		a := decodeAnswer(t, post(t, h, `query ($d: CaseDraft!) { assess(draft: $d) { detectedTerms { slug } } }`, map[string]any{"d": c.draft}))
		if a.code() != codeBadInput {
			t.Errorf("answer %+v, want the code %s", a, codeBadInput)
			continue
		}
		if diff := gocmp.Diff(c.path, a.Errors[0].Extensions["path"]); diff != "" {
			t.Errorf("path of the error (-want +got):\n%s", diff)
		}
	}
	ask(t, h, `query ($d: CaseDraft!) { assess(draft: $d) { detectedTerms { slug } } }`, map[string]any{"d": map[string]any{"text": strings.Repeat("가", 100_000)}})
}

// TestAnswersDoNotDependOnArrival stores the same records in different orders,
// so that all inner numbers differ: the answers are the same, byte by byte.
func TestAnswersDoNotDependOnArrival(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for range 6 {
		list := fixture.Graph(r, 60)
		var records [][]byte
		for _, inc := range list {
			records = append(records, recordOf(t, inc))
		}
		id := func(i int) string {
			return base64.RawURLEncoding.EncodeToString([]byte("i" + list[i].ID))
		}
		queries := []string{
			fmt.Sprintf(agreeQuery, "{}", "CONTRIBUTING_FACTOR, MONTH", "SYMPTOM", "org-1", "factor-1", "[]", list[0].ID),
			fmt.Sprintf(`{ paths(from: %q, to: %q, first: 10) { complete paths { cost steps { kind to { id } } sentence { text } } } }`, id(1), id(2)),
			fmt.Sprintf(`{ subgraph(roots: [%q, %q], hops: 2, maxNodes: 40) { omittedCount nodes { node { id } degree hop } edges { source target kind } export(format: GRAPHML) } }`, id(3), id(4)),
			fmt.Sprintf(`{ compare(left: %q, right: %q) { explanation { sentence { text } } path { sentence { text } } } }`, list[5].ID, list[6].ID),
			`{ assess(draft: {text: "retry"}) { detectedTerms { slug } consider { right { slug } } similar { score } } search(query: "outage", first: 100) { totalCount edges { score cursor node { ... on Incident { caseId } } } } }`,
		}
		var want []string
		for round := range 3 {
			in, _ := searchable(t, nil, records...)
			h := NewHandler(Config{Ingester: in, Limits: Limits{MaxCost: 1 << 30}})
			for i, q := range queries {
				w := post(t, h, q, nil)
				if a := decodeAnswer(t, w); len(a.Errors) > 0 {
					t.Fatalf("%s: %+v", q, a.Errors)
				}
				if round == 0 {
					want = append(want, w.Body.String())
				} else if got := w.Body.String(); got != want[i] {
					t.Fatalf("%s: answers differ (-one +other):\n%s", q, gocmp.Diff(want[i], got))
				}
			}
			r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		}
	}
}
