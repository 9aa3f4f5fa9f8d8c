package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// generated is what gqlgen makes, cut down.
const generated = `package generated

import (
	"incidentgraph/graph/model"
)

func (ec *executionContext) marshalNIncident() graphql.Marshaler {
	return graphql.MarshalSliceConcurrently(ctx)
}
`

func TestBoundLists(t *testing.T) {
	name := filepath.Join(t.TempDir(), "generated.go")
	write := func(code string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(generated)
	if err := boundLists(name); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(generated, "graphql.MarshalSliceConcurrently", "direct.MarshalSlice", 1)
	want = strings.Replace(want, "\t\"incidentgraph/graph/model\"", "\t\"incidentgraph/graph/direct\"\n\t\"incidentgraph/graph/model\"", 1)
	if string(got) != want {
		t.Errorf("boundLists makes\n%s\nwant\n%s", got, want)
	}
	for problem, code := range map[string]string{
		"a second time": string(got),
		"other imports": strings.Replace(generated, "graph/model", "model", 1),
		"another name":  strings.Replace(generated, "MarshalSliceConcurrently", "MarshalAll", 1),
	} {
		write(code)
		if err := boundLists(name); err == nil {
			t.Errorf("%s: no error", problem)
		}
	}
}

// TestTree tells who has generated code with gqlgen alone: use go generate.
func TestTree(t *testing.T) {
	code, err := os.ReadFile("../../generated/generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(code), "MarshalSliceConcurrently") {
		t.Error("graph/generated is as gqlgen makes it: run go generate ./graph")
	}
}
