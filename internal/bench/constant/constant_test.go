package constant_test

import (
	"os"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// TestSchemaIsPartOfTheWhole checks that every type, field, argument and value
// is in the real schema too, and of the same type there.
func TestSchemaIsPartOfTheWhole(t *testing.T) {
	part, whole := schema(t, "schema.graphqls"), schema(t, "../../../schema.graphqls")
	for name, p := range part.Types {
		w := whole.Types[name]
		if w == nil || w.Kind != p.Kind {
			t.Errorf("the schema has no %s %s", p.Kind, name)
			continue
		}
		for _, f := range p.Fields {
			in := w.Fields.ForName(f.Name)
			if in == nil || in.Type.String() != f.Type.String() {
				t.Errorf("the schema has no %s.%s: %s", name, f.Name, f.Type)
				continue
			}
			for _, a := range f.Arguments {
				if x := in.Arguments.ForName(a.Name); x == nil || x.Type.String() != a.Type.String() {
					t.Errorf("the schema has no %s.%s(%s: %s)", name, f.Name, a.Name, a.Type)
				}
			}
		}
		for _, v := range p.EnumValues {
			if w.EnumValues.ForName(v.Name) == nil {
				t.Errorf("the schema has no %s.%s", name, v.Name)
			}
		}
	}
}

func schema(t *testing.T, path string) *ast.Schema {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gqlparser.LoadSchema(&ast.Source{Name: path, Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
