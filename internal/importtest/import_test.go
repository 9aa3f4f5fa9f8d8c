// Package importtest holds the rules of who may import whom, and of who may
// touch what, as a test. A package or an outside module without a row fails,
// so that each new one is a decision.
package importtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "incidentgraph"

// rule is the row of one package.
type rule struct {
	// imports are packages of ours, with the module left out. A name ending
	// in /... stands for the package and all below it; "..." for all.
	imports []string
	// never are packages of the standard library that are not this one's
	// business.
	never []string
}

// rules is the table. A name ending in /... is the row of a package and of
// all below that have no row of their own.
func rules() map[string]rule {
	files := []string{"os", "io/ioutil"}
	return map[string]rule{
		"internal/incident":        {never: append(files, "net/http", "database/sql")},
		"internal/store":           {imports: []string{"internal/incident"}, never: files},
		"internal/store/boltstore": {imports: []string{"internal/incident", "internal/store"}, never: []string{"net/http"}},
		"internal/store/storetest": {imports: []string{"internal/store"}},
		"internal/index":           {imports: []string{"internal/incident"}, never: files},
		"internal/analysis":        {imports: []string{"internal/incident", "internal/index"}, never: files},
		"internal/search":          {imports: []string{"internal/incident"}, never: []string{"net/http"}},
		"internal/ingest/...":      {imports: []string{"internal/incident", "internal/store", "internal/index", "internal/search", "internal/ingest/..."}, never: []string{"net/http"}},
		"internal/library":         {imports: []string{"internal/incident"}},
		"internal/web":             {},
		"internal/fixture":         {imports: []string{"internal/incident"}},
		"internal/headroom":        {never: append(files, "net/http")},
		"internal/importtest":      {},
		"graph/...":                {imports: []string{"graph/...", "internal/incident", "internal/index", "internal/analysis", "internal/search", "internal/ingest/..."}, never: append(files, "flag")},
		"graph/direct/generate":    {}, // a program of go generate
		"server/...":               {imports: []string{"..."}},
		"internal/bench/...":       {imports: []string{"..."}}, // a program beside server, that measures it
	}
}

// owners names for each outside module the packages that may import it.
func owners() map[string][]string {
	engine := []string{"internal/search"}
	return map[string][]string{
		"go.etcd.io/bbolt":                   {"internal/store/boltstore"},
		"github.com/99designs/gqlgen":        {"graph/...", "internal/bench/constant"},
		"github.com/vektah/gqlparser":        {"graph/...", "internal/bench/constant"},
		"github.com/klauspost/compress":      {"internal/ingest/..."},
		"github.com/go-json-experiment/json": {"graph"},
		"golang.org/x/text":                  {"internal/incident", "internal/analysis", "internal/search", "graph/..."},
		"github.com/google/go-cmp":           {"internal/store/storetest"},

		"github.com/blevesearch/bleve":              engine,
		"github.com/blevesearch/bleve_index_api":    engine,
		"github.com/blevesearch/scorch_segment_api": engine,
		"github.com/blevesearch/snowballstem":       engine,
		"github.com/RoaringBitmap/roaring":          engine,

		"github.com/urfave/cli":               {"server/..."},
		"github.com/agnivade/levenshtein":     {"server/..."},
		"github.com/schollz/progressbar":      {"server/..."},
		"github.com/prometheus/client_golang": {"server/..."},
		"go.opentelemetry.io/otel":            {"server/..."},
		"golang.org/x/net":                    {"server/..."},
		"golang.org/x/term":                   programs(),
	}
}

// programs are what is started from a command line: flags, arguments and
// environment are theirs.
func programs() []string {
	return []string{"server/...", "internal/bench/...", "graph/direct/generate"}
}

// environment are the functions that read what only programs may read.
func environment() map[string][]string {
	return map[string][]string{
		"os":      {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args"},
		"syscall": {"Getenv", "Environ"},
	}
}

// source is one Go file.
type source struct {
	name string // its path in the repository
	pkg  string // the folder
	test bool
	file *ast.File
}

func TestRepository(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 10 {
		t.Fatalf("%d files under %s: not the repository", len(sources), root)
	}
	for _, s := range sources {
		for _, problem := range s.problems() {
			t.Errorf("%s: %s", s.name, problem)
		}
	}
}

// load parses all Go files of the module, whatever their build constraints.
func load(root string) ([]source, error) {
	var sources []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, path, d.Name())
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(name), path, nil)
		sources = append(sources, s)
		return err
	})
	return sources, err
}

// enter leaves out folders that hold no package of the module.
func enter(root, path, name string) error {
	if path == root {
		return nil
	}
	if name == "testdata" || name == "vendor" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// parse reads one file, from src where that is given.
func parse(name, path string, src any) (source, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	dir := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir = name[:i]
	}
	return source{name: name, pkg: dir, test: strings.HasSuffix(name, "_test.go"), file: file}, nil
}

// problems holds a file against all rules.
func (s source) problems() []string {
	var problems []string
	for _, imported := range s.imports() {
		if p := s.judge(imported); p != "" {
			problems = append(problems, p)
		}
	}
	if s.test {
		return problems
	}
	if _, ok := rowOf(s.pkg); !ok {
		problems = append(problems, fmt.Sprintf("package %q has no row in the table", s.pkg))
	}
	if !matchesAny(s.pkg, programs()) {
		problems = append(problems, s.readsEnvironment()...)
	}
	if s.hasStub() {
		problems = append(problems, `panic("todo") is left`)
	}
	return problems
}

// imports gives the paths that a file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			path = spec.Path.Value // judged as an unknown module
		}
		paths = append(paths, path)
	}
	return paths
}

// judge tells what is wrong with one import, "" if nothing.
func (s source) judge(imported string) string {
	ours, isOurs := strings.CutPrefix(imported, module+"/")
	if s.test {
		// Tests may import what they need, save that nothing inside looks up
		// to what is built on it.
		if isOurs && matches(s.pkg, "internal/...") && (matches(ours, "graph/...") || matches(ours, "server/...")) {
			return fmt.Sprintf("a test of %s must not import %s", s.pkg, ours)
		}
		return ""
	}
	row, _ := rowOf(s.pkg)
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs:
		if !matchesAny(ours, row.imports) {
			return fmt.Sprintf("%s must not import %s", s.pkg, ours)
		}
	case strings.Contains(first, "."):
		return s.judgeOutside(imported)
	case slices.Contains(row.never, imported):
		return fmt.Sprintf("%s must not import %s", s.pkg, imported)
	case imported == "flag" && !matchesAny(s.pkg, programs()):
		return fmt.Sprintf("%s must not import flag: flags belong to server", s.pkg)
	}
	return ""
}

// judgeOutside tells what is wrong with an import from another module.
func (s source) judgeOutside(imported string) string {
	for outside, packages := range owners() {
		if imported != outside && !strings.HasPrefix(imported, outside+"/") {
			continue
		}
		if !matchesAny(s.pkg, packages) {
			return fmt.Sprintf("%s must not import %s, which belongs to %s", s.pkg, imported, strings.Join(packages, ", "))
		}
		return ""
	}
	return fmt.Sprintf("%s has no owner in the table", imported)
}

// readsEnvironment lists the uses of flags and environment.
func (s source) readsEnvironment() []string {
	names := s.importNames()
	var problems []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		if path := names[x.Name]; slices.Contains(environment()[path], selector.Sel.Name) {
			problems = append(problems, fmt.Sprintf("%s.%s: flags and environment belong to server", path, selector.Sel.Name))
		}
		return true
	})
	return problems
}

// importNames gives by local name what the file imports, as far as
// environment speaks of it.
func (s source) importNames() map[string]string {
	names := map[string]string{}
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || environment()[path] == nil {
			continue
		}
		name := path
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	return names
}

// hasStub tells whether a body is still to be written.
func (s source) hasStub() bool {
	found := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		f, isName := call.Fun.(*ast.Ident)
		text, isText := call.Args[0].(*ast.BasicLit)
		found = found || isName && isText && f.Name == "panic" && strings.EqualFold(strings.Trim(text.Value, "\"`"), "todo")
		return true
	})
	return found
}

// rowOf gives the row of a package: its own, or the nearest above that
// stands for all below it.
func rowOf(pkg string) (rule, bool) {
	table := rules()
	if row, ok := table[pkg]; ok {
		return row, true
	}
	for above := pkg; above != ""; {
		if row, ok := table[above+"/..."]; ok {
			return row, true
		}
		above = above[:max(strings.LastIndexByte(above, '/'), 0)]
	}
	return rule{}, false
}

// matches tells whether a pattern names a package.
func matches(pkg, pattern string) bool {
	if pattern == "..." {
		return true
	}
	below, all := strings.CutSuffix(pattern, "/...")
	return pkg == below || all && strings.HasPrefix(pkg, below+"/")
}

func matchesAny(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(pkg, p) })
}

// TestProblems holds files that break each rule, and files that keep it.
func TestProblems(t *testing.T) {
	for _, test := range []struct {
		name, src, want string // want is a part of the only problem; "" for none
	}{
		{"internal/incident/x.go", `import "golang.org/x/text/unicode/norm"`, ""},
		{"internal/incident/x.go", `import "incidentgraph/internal/store"`, "must not import internal/store"},
		{"internal/incident/x.go", `import "github.com/google/uuid"`, "no owner"},
		{"internal/store/x.go", `import "go.etcd.io/bbolt"`, "belongs to internal/store/boltstore"},
		{"internal/store/boltstore/x.go", `import _ "go.etcd.io/bbolt/errors"`, ""},
		{"internal/store/boltstore/x.go", `import "incidentgraph/internal/index"`, "must not import internal/index"},
		{"internal/store/other/x.go", ``, "no row"},
		{"internal/index/x.go", `import "os"`, "must not import os"},
		{"internal/index/x_test.go", `import ("os"; "incidentgraph/internal/fixture"; "flag")`, ""},
		{"internal/index/x_test.go", `import "incidentgraph/graph"`, "must not import graph"},
		{"internal/index/x_test.go", `import "incidentgraph/graph/model"`, "must not import graph/model"},
		{"internal/analysis/x.go", `import "incidentgraph/internal/store"`, "must not import internal/store"},
		{"internal/ingest/x.go", `import ("incidentgraph/internal/store"; "github.com/klauspost/compress/zstd"; "os")`, ""},
		{"internal/ingest/x.go", `import "incidentgraph/internal/store/boltstore"`, "must not import internal/store/boltstore"},
		{"internal/ingest/csv/x.go", `import "incidentgraph/internal/ingest"`, ""},
		{"internal/ingest/x.go", `import "net/http"`, "must not import net/http"},
		{"internal/library/x.go", `import "incidentgraph/internal/index"`, "must not import internal/index"},
		{"internal/web/x.go", `import "incidentgraph/internal/incident"`, "must not import internal/incident"},
		{"internal/fixture/x.go", `import "incidentgraph/internal/incident"`, ""},
		{"graph/x.go", `import ("github.com/99designs/gqlgen/graphql"; "github.com/vektah/gqlparser/v2/ast"; "incidentgraph/graph/model")`, ""},
		{"graph/model/x.go", `import "incidentgraph/internal/index"`, ""},
		{"graph/x.go", `import "incidentgraph/internal/store"`, "must not import internal/store"},
		{"graph/x.go", `import "flag"`, "must not import flag"},
		{"graphs/x.go", ``, "no row"},
		{"server/x.go", `import ("incidentgraph/graph"; "incidentgraph/internal/store/boltstore"; "github.com/urfave/cli/v3"; "flag")`, ""},
		{"server/x.go", `import "os"; var x = os.Getenv("X")`, ""},
		{"internal/search/x.go", `import "os"; var x = os.Getenv("X")`, "os.Getenv"},
		{"internal/search/x.go", `import env "os"; var x, y = env.LookupEnv("X")`, "os.LookupEnv"},
		{"internal/search/x.go", `import "os"; var x, err = os.Open("X")`, ""},
		{"internal/search/x.go", `import "github.com/urfave/cli/v3"`, "belongs to server"},
		{"internal/bench/x.go", `import ("incidentgraph/internal/store/boltstore"; "flag"; "os"); var x = os.Args`, ""},
		{"internal/bench/x.go", `import "go.etcd.io/bbolt"`, "belongs to internal/store/boltstore"},
		{"graph/x.go", `import "github.com/blevesearch/bleve/v2/index/scorch"`, "belongs to internal/search"},
		{"internal/search/x.go", `func f() { panic("todo") }`, `panic("todo")`},
		{"internal/search/x.go", `func f() { panic("impossible") }`, ""},
	} {
		s, err := parse(test.name, test.name, "package x; "+test.src)
		if err != nil {
			t.Fatal(err)
		}
		problems := s.problems()
		if test.want == "" && len(problems) > 0 || test.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], test.want)) {
			t.Errorf("%s with %s: problems %q, want %q", test.name, test.src, problems, test.want)
		}
	}
}
