// Command rewrite makes code that gqlgen generated call package lean, which
// says what for. It changes names of functions and nothing else, and fails
// where it does not find the code that it knows:
//
//	rewrite generated.go
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rewrite FILE")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rewrite:", err)
		os.Exit(1)
	}
}

func rewrite(name string) error {
	before, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	after, err := lean(before)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, after, 0o644) //nolint:gosec // source code, for all to read
}

// The functions of package graphql that are replaced, by what of package lean.
// Some are replaced only where the function around them is of the right kind.
var replacements = map[string]struct {
	by    string
	where func(*ast.FuncDecl, functions) bool
}{
	"MarshalString":            {"MarshalString", anywhere},
	"MarshalSliceConcurrently": {"MarshalSlice", anywhere},
	"NewDeferredGroup":         {"NewDeferredGroup", anywhere},
	"NewFieldSet":              {"NewFieldSet", inSequence},
	"ResolveField":             {"ResolveLeaf", ofLeaf},
}

// functions are the declared ones by name.
type functions map[string]*ast.FuncDecl

func anywhere(*ast.FuncDecl, functions) bool { return true }

// inSequence tells of the objects none of whose fields runs on its own.
func inSequence(f *ast.FuncDecl, _ functions) bool {
	return len(calls(f, "out", "ResolveConcurrently")) == 0 && len(calls(f, "out", "ResolveRootConcurrently")) == 0
}

// ofLeaf tells of the fields of scalars and enums without arguments.
func ofLeaf(f *ast.FuncDecl, all functions) bool {
	context := all["fieldContext"+f.Name.Name]
	return context != nil && len(calls(context, "graphql", "NewScalarFieldContext")) > 0
}

// lean gives the source with the calls replaced.
func lean(source []byte) ([]byte, error) {
	const first = `	"incidentgraph/graph/model"` // of the imports from here
	const added = `	"incidentgraph/graph/lean"` + "\n"
	if bytes.Contains(source, []byte(added)) {
		return nil, errors.New("it has been rewritten already")
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	all := make(functions)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			all[f.Name.Name] = f
		}
	}
	type edit struct {
		at, end int
		text    string
	}
	var edits []edit
	for name, r := range replacements {
		n := len(edits)
		for _, f := range all {
			for _, call := range calls(f, "graphql", name) {
				if r.where(f, all) {
					edits = append(edits, edit{files.Position(call.Pos()).Offset, files.Position(call.End()).Offset, "lean." + r.by})
				}
			}
		}
		if len(edits) == n {
			return nil, fmt.Errorf("there is no graphql.%s to replace: has gqlgen changed?", name)
		}
	}
	imports := bytes.Index(source, []byte(first))
	if imports < 0 {
		return nil, fmt.Errorf("there is no import of%s", strings.TrimSpace(first))
	}
	edits = append(edits, edit{imports, imports, added})
	slices.SortFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b bytes.Buffer
	from := 0
	for _, e := range edits {
		b.Write(source[from:e.at])
		b.WriteString(e.text)
		from = e.end
	}
	b.Write(source[from:])
	return format.Source(b.Bytes())
}

// calls finds where a function names x.name.
func calls(f *ast.FuncDecl, x, name string) []*ast.SelectorExpr {
	var found []*ast.SelectorExpr
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || s.Sel.Name != name {
			return true
		}
		if of, ok := s.X.(*ast.Ident); ok && of.Name == x {
			found = append(found, s)
		}
		return true
	})
	return found
}
