package main

import (
	_ "embed"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed direct.gotpl
var fileTemplate string

// generator is what the template sees. It makes no code for what the schema's
// bindings do not use, and says so where they come to use it.
type generator struct {
	Objects    []*codegen.Object
	Interfaces []*codegen.Interface
	Enums      []*config.TypeReference // those that are written
}

func newGenerator(data *codegen.Data) (*generator, error) {
	g := &generator{}
	for _, o := range data.Objects {
		if strings.HasPrefix(o.Name, "__") || o == data.MutationRoot || o == data.SubscriptionRoot {
			continue
		}
		g.Objects = append(g.Objects, o)
		for _, f := range o.Fields {
			if err := g.check(f); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", o.Name, f.Name, err)
			}
		}
	}
	for _, name := range slices.Sorted(keys(data.Interfaces)) {
		if i := data.Interfaces[name]; !strings.HasPrefix(name, "__") {
			g.Interfaces = append(g.Interfaces, i)
		}
	}
	slices.SortFunc(g.Enums, func(a, b *config.TypeReference) int { return strings.Compare(a.Definition.Name, b.Definition.Name) })
	return g, nil
}

func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// check refuses what no code is made for, and notes the enums.
func (g *generator) check(f *codegen.Field) error {
	if f.IsReserved() {
		return nil
	}
	switch {
	case f.IsMap(), f.HasHaser, f.IsBatch(), f.Stream, f.HasDirectives():
		return fmt.Errorf("no code is made for a field that is bound so")
	case f.IsResolver && !f.Object.Root:
		return fmt.Errorf("no code is made for resolvers beside those of queries")
	}
	for t := f.TypeReference; t != nil; t = t.Elem() {
		if t.IsPtrToSlice() || t.IsPtrToPtr() || t.IsPtrToIntf() {
			return fmt.Errorf("no code is made for values of type %s", t.GO)
		}
		if t.IsSlice() {
			continue
		}
		switch t.Definition.Kind {
		case ast.Scalar:
			if _, err := scalar(t); err != nil {
				return err
			}
		case ast.Enum:
			if !t.HasEnumValues() {
				return fmt.Errorf("no code is made for enums whose values are not bound one by one")
			}
			if !slices.ContainsFunc(g.Enums, func(e *config.TypeReference) bool { return e.Definition == t.Definition }) && !t.IsPtr() {
				g.Enums = append(g.Enums, t)
			}
		}
	}
	return nil
}

// scalar names the function that writes values of a scalar: a method of the
// writer, or Append and the scalar's name beside the function that marshals it.
func scalar(t *config.TypeReference) (function string, err error) {
	if t.Marshaler == nil {
		return "", fmt.Errorf("scalar %s is not bound to functions", t.Definition.Name)
	}
	name, ok := strings.CutPrefix(t.Marshaler.Name(), "Marshal")
	if !ok {
		return "", fmt.Errorf("scalar %s is bound to %s", t.Definition.Name, t.Marshaler.Name())
	}
	if t.Marshaler.Pkg().Path() != "github.com/99designs/gqlgen/graphql" {
		return t.Marshaler.Pkg().Path() + "." + "Append" + name, nil
	}
	switch name {
	case "String", "Int", "Boolean":
		return name, nil
	}
	return "", fmt.Errorf("no code is made for the scalar %s of gqlgen's", name)
}

// Arguments gives the declaration of the fields of a struct with a field's
// arguments.
func (g *generator) Arguments(f *codegen.Field) string {
	var b strings.Builder
	for i, a := range f.Args {
		fmt.Fprintf(&b, "a%d %s // %s\n", i, ref(a.TypeReference.GO), a.Name)
	}
	return b.String()
}

// ArgumentValues gives the values of that struct out of gqlgen's map m.
func (g *generator) ArgumentValues(f *codegen.Field) string {
	var b strings.Builder
	for _, a := range f.Args {
		fmt.Fprintf(&b, "m[%q].(%s),\n", a.Name, ref(a.TypeReference.GO))
	}
	return b.String()
}

// Number gives the number of a field, for Type.Fields.
func (g *generator) Number(i int) int { return i + 1 }

// Field gives the code that writes the value of a field of obj.
func (g *generator) Field(f *codegen.Field) string {
	var b strings.Builder
	call := "obj." + f.GoFieldName
	switch {
	case f.IsReserved():
		return "return w.GiveUp()\n" // introspection, which has no plan
	case f.IsResolver:
		call = "ec.Resolvers.Query()." + f.GoFieldName
	case f.IsVariable():
		fmt.Fprintf(&b, "v := %s\n", call)
		b.WriteString(g.value(f.TypeReference, "v", 0))
		return b.String()
	}
	var arguments []string
	if f.IsResolver || f.MethodHasContext {
		arguments = append(arguments, "w.Context")
	}
	if len(f.Args) > 0 {
		fmt.Fprintf(&b, "a := ec.arguments_%s_%s(w, f)\nif a == nil {\nreturn w.GiveUp()\n}\n", f.Object.Name, f.Name)
		for i := range f.Args {
			arguments = append(arguments, fmt.Sprintf("a.a%d", i))
		}
	}
	call += "(" + strings.Join(arguments, ", ") + ")"
	switch {
	case f.VOkFunc:
		fmt.Fprintf(&b, "if v, ok := %s; ok {\n%s} else {\n%s}\n", call, g.value(f.TypeReference, "v", 0), null(f.TypeReference))
		return b.String()
	case f.NoErr && !f.IsResolver:
		fmt.Fprintf(&b, "v := %s\n", call)
	default:
		fmt.Fprintf(&b, "if !w.Alive() {\nreturn false\n}\nv, err := %s\nif err != nil {\nreturn w.GiveUp()\n}\n", call)
	}
	b.WriteString(g.value(f.TypeReference, "v", 0))
	return b.String()
}

// null gives the code for a value that there is not.
func null(t *config.TypeReference) string {
	if t.GQL.NonNull {
		return "return w.GiveUp()\n"
	}
	return "w.Null()\n"
}

// value gives the code that writes a value, v in the code, inside so many
// lists.
func (g *generator) value(t *config.TypeReference, v string, depth int) string {
	if t.IsNilable() && (!t.IsSlice() || !t.GQL.NonNull) {
		inner := *t
		if _, ok := t.GO.(*types.Pointer); ok && t.Definition.Kind != ast.Object {
			return fmt.Sprintf("if %s == nil {\n%s} else {\n%s}\n", v, null(t), g.some(inner.Elem(), "*"+v, depth))
		}
		if t.GQL.NonNull {
			return fmt.Sprintf("if %s == nil {\n%s}\n%s", v, null(t), g.some(t, v, depth))
		}
		return fmt.Sprintf("if %s == nil {\n%s} else {\n%s}\n", v, null(t), g.some(t, v, depth))
	}
	return g.some(t, v, depth)
}

// some is value for a value that is not nil.
func (g *generator) some(t *config.TypeReference, v string, depth int) string {
	if t.IsSlice() {
		return g.list(t, v, depth)
	}
	switch t.Definition.Kind {
	case ast.Object:
		if !t.IsPtr() {
			v = "&" + v
		}
		return fmt.Sprintf("if !ec.write_%s(w, f.Of(&type_%s), %s) {\nreturn false\n}\n", t.Definition.Name, t.Definition.Name, v)
	case ast.Interface, ast.Union:
		return fmt.Sprintf("if !ec.write_%s(w, f, %s) {\nreturn false\n}\n", t.Definition.Name, v)
	case ast.Enum:
		return fmt.Sprintf("w.Raw(enum_%s(%s))\n", t.Definition.Name, v)
	}
	function, _ := scalar(t) // checked
	if t.CastType != nil {
		v = ref(t.CastType) + "(" + v + ")"
	}
	i := strings.LastIndex(function, ".")
	if i < 0 {
		return fmt.Sprintf("w.%s(%s)\n", function, v)
	}
	function = templates.CurrentImports.Lookup(function[:i]) + function[i:]
	return fmt.Sprintf("if !w.Append(%s(w.Bytes(), %s)) {\n%s}\n", function, v, null(t))
}

// list gives the code that writes a list.
func (g *generator) list(t *config.TypeReference, v string, depth int) string {
	var b strings.Builder
	scalar := t.Definition.Kind == ast.Scalar
	if !scalar {
		fmt.Fprintf(&b, "if !w.List(len(%s)) {\nreturn false\n}\n", v)
	}
	i, e := fmt.Sprintf("i%d", depth), fmt.Sprintf("e%d", depth)
	fmt.Fprintf(&b, "for %s := range %s {\n", i, v)
	if !scalar {
		b.WriteString("if !w.Alive() {\nreturn false\n}\n")
	}
	fmt.Fprintf(&b, "w.Element(%s)\n%s := %s[%s]\n", i, e, v, i)
	b.WriteString(g.value(t.Elem(), e, depth+1))
	fmt.Fprintf(&b, "}\nw.EndList(len(%s))\n", v)
	return b.String()
}

// ref names a type, and imports its package.
func ref(t types.Type) string {
	return strings.ReplaceAll(templates.CurrentImports.LookupType(t), "interface{}", "any")
}
