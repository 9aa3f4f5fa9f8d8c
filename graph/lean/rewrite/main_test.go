package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// generated is what gqlgen makes, cut down.
const generated = `package generated

import (
	"incidentgraph/graph/model"
)

func (ec *executionContext) _Incident_caseId(obj *view.Incident) graphql.Marshaler {
	return graphql.ResolveField(obj.CaseID)
}

func (ec *executionContext) fieldContext_Incident_caseId() {
	return graphql.NewScalarFieldContext("Incident")
}

func (ec *executionContext) _Incident_title(obj *view.Incident) graphql.Marshaler {
	return graphql.ResolveField(obj.Title)
}

func (ec *executionContext) fieldContext_Incident_title() {
	return &graphql.FieldContext{}
}

func (ec *executionContext) _Incident() graphql.Marshaler {
	out := graphql.NewFieldSet(fields)
	deferred := graphql.NewDeferredGroup(ctx)
	out.Values[0] = graphql.MarshalString("Incident")
	return out
}

func (ec *executionContext) _Query() graphql.Marshaler {
	out := graphql.NewFieldSet(fields)
	deferred := graphql.NewDeferredGroup(ctx)
	out.ResolveRootConcurrently(0)
	return out
}

func (ec *executionContext) marshalNIncident() graphql.Marshaler {
	return graphql.MarshalSliceConcurrently(ctx)
}
`

func TestLean(t *testing.T) {
	got, err := lean([]byte(generated))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"\t\"incidentgraph/graph/model\"", "\t\"incidentgraph/graph/lean\"\n\t\"incidentgraph/graph/model\"",
		"graphql.ResolveField(obj.CaseID)", "lean.ResolveLeaf(obj.CaseID)",
		"graphql.NewDeferredGroup", "lean.NewDeferredGroup",
		"graphql.MarshalString", "lean.MarshalString",
		"graphql.MarshalSliceConcurrently", "lean.MarshalSlice",
	).Replace(generated)
	want = strings.Replace(want, "graphql.NewFieldSet", "lean.NewFieldSet", 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("lean (-want +got):\n%s", diff)
	}
}

func TestLeanRefuses(t *testing.T) {
	for name, source := range map[string]string{
		"no Go":              "func",
		"a second time":      strings.Replace(generated, "\t\"incidentgraph/graph/model\"", "\t\"incidentgraph/graph/lean\"\n\t\"incidentgraph/graph/model\"", 1),
		"other imports":      strings.Replace(generated, "incidentgraph/graph/model", "other/model", 1),
		"another generator":  strings.ReplaceAll(generated, "MarshalSliceConcurrently", "MarshalAll"),
		"no leaves":          strings.ReplaceAll(generated, "NewScalarFieldContext", "NewContext"),
		"all on their own":   strings.ReplaceAll(generated, "Values[0] = ", "ResolveConcurrently = "),
		"nothing to replace": "package generated\n",
	} {
		if _, err := lean([]byte(source)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTree tells who has generated code and not rewritten it: use go generate.
func TestTree(t *testing.T) {
	source, err := os.ReadFile("../../generated/generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lean(source); err == nil {
		t.Error("graph/generated is as gqlgen makes it: run go generate ./graph")
	}
}
