package graph

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

const coercionSchema = `
scalar PartialDate
scalar JSON
enum Colour { RED GREEN }
input Point { x: Int! y: Int = 2 label: String near: Point }
input Key @oneOf { id: ID name: String }
type Query { f: Int }
`

func TestCoerceVariables(t *testing.T) {
	schema, limits := gqlparser.MustLoadSchema(&ast.Source{Input: coercionSchema}), DefaultLimits()
	for _, c := range []struct {
		typ, value string
		want       any    // where it is taken
		refused    string // part of the error where it is not
	}{
		{"Int", `5`, int64(5), ""},
		{"Int", `5.0`, int64(5), ""},
		{"Int", `-2147483648`, int64(-2147483648), ""},
		{"Int", `2147483648`, nil, "32 bits"},
		{"Int", `5.5`, nil, "32 bits"},
		{"Int", `"5"`, nil, "32 bits"},
		{"Int", `true`, nil, "32 bits"},
		{"Int", `1e400`, nil, "32 bits"},
		{"Int", `null`, nil, ""},
		{"Int!", `null`, nil, "must not be null"},
		{"Float", `1.5`, 1.5, ""},
		{"Float", `2`, 2.0, ""},
		{"Float", `"2"`, nil, "number"},
		{"Float", `1e400`, nil, "finite"},
		{"String", `"a"`, "a", ""},
		{"String", `5`, nil, "string"},
		{"Boolean", `false`, false, ""},
		{"Boolean", `"true"`, nil, "true or false"},
		{"Boolean", `0`, nil, "true or false"},
		{"ID", `"a"`, "a", ""},
		{"ID", `12`, "12", ""},
		{"ID", `1.5`, nil, "integer"},
		{"Colour", `"RED"`, "RED", ""},
		{"Colour", `"red"`, nil, "enum Colour"},
		{"Colour", `1`, nil, "enum Colour"},
		{"PartialDate", `"2015-09"`, "2015-09", ""},
		{"PartialDate", `"2015-13"`, nil, "PartialDate"},
		{"PartialDate", `2015`, nil, "PartialDate"},
		{"JSON", `{"a":[1]}`, map[string]any{"a": []any{json.Number("1")}}, ""},
		{"[Int!]", `[1,2]`, []any{int64(1), int64(2)}, ""},
		{"[Int!]", `1`, []any{int64(1)}, ""},
		{"[Int!]", `[1,null]`, nil, "$v[1]: it must not be null"},
		{"[Int]", `[null]`, []any{nil}, ""},
		{"[[Int]]", `[[1],2]`, []any{[]any{int64(1)}, []any{int64(2)}}, ""},
		{"Point", `{"x":1}`, map[string]any{"x": int64(1)}, ""},
		{"Point", `{"x":1,"y":null,"near":{"x":2}}`, map[string]any{"x": int64(1), "y": nil, "near": map[string]any{"x": int64(2)}}, ""},
		{"Point", `{}`, nil, "$v.x: a value of the type Int! is needed"},
		{"Point", `{"x":1,"near":{"x":"2"}}`, nil, "$v.near.x: not a Int"},
		{"Point", `{"x":1,"z":1}`, nil, `no member "z"`},
		{"Point", `[{"x":1}]`, nil, "must be an object"},
		{"Key", `{"id":"a"}`, map[string]any{"id": "a"}, ""},
		{"Key", `{}`, nil, "exactly one member"},
		{"Key", `{"id":"a","name":"b"}`, nil, "exactly one member"},
		{"Key", `{"id":null}`, nil, "must not be null"},
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: "query Q($v: " + c.typ + ") { f }"})
		if err != nil {
			t.Fatal(err)
		}
		var given map[string]any
		if err := decodeObject([]byte(`{"v":`+c.value+`,"other":1}`), &given); err != nil {
			t.Fatalf("decode %s: %v", c.value, err)
		}
		got, err := coercion{schema, &limits}.variables(doc.Operations[0], given)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("coerce %s as %s: error = %v, want one with %q", c.value, c.typ, err, c.refused)
			}
		case err != nil:
			t.Errorf("coerce %s as %s: %v", c.value, c.typ, err)
		default:
			if diff := cmp.Diff(map[string]any{"v": c.want}, got); diff != "" {
				t.Errorf("coerce %s as %s (-want +got):\n%s", c.value, c.typ, diff)
			}
		}
	}
}

func TestCoerceAbsentVariables(t *testing.T) {
	schema, limits := gqlparser.MustLoadSchema(&ast.Source{Input: coercionSchema}), DefaultLimits()
	doc, err := parser.ParseQuery(&ast.Source{Input: `query Q($a: Int, $b: Int = 3, $c: Point! = {x: 1}) { f } query R($a: Int!) { f }`})
	if err != nil {
		t.Fatal(err)
	}
	got, err := coercion{schema, &limits}.variables(doc.Operations[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"b": int64(3), "c": map[string]any{"x": int64(1)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if _, err := (coercion{schema, &limits}).variables(doc.Operations[1], nil); err == nil {
		t.Error("variables without $a: Int! = nil error, want one")
	}
}
