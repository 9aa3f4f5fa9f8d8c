// Command generate has gqlgen generate what it generates, adds the code that
// package direct runs, and puts that package's bounded lists into gqlgen's code.
// It is run in the folder of the module or below.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return err
	}
	if err := api.Generate(cfg, api.AddPlugin(plugin{})); err != nil {
		return err
	}
	return boundLists(cfg.Exec.Filename)
}

// boundLists has generated code make its lists with package direct: within the
// budget of the operation, and without a goroutine for each element.
func boundLists(name string) error {
	code, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const imports, list = `"incidentgraph/graph/model"` + "\n", "graphql.MarshalSliceConcurrently("
	if bytes.Count(code, []byte(imports)) != 1 || !bytes.Contains(code, []byte(list)) {
		return fmt.Errorf("%s has no import of %s or no call of %s: has gqlgen changed?", name, imports, list)
	}
	code = bytes.Replace(code, []byte(imports), []byte(`"incidentgraph/graph/direct"`+"\n\t"+imports), 1)
	code = bytes.ReplaceAll(code, []byte(list), []byte("direct.MarshalSlice("))
	return os.WriteFile(name, code, 0o644) //nolint:gosec // source code, for all to read
}

// plugin is one of gqlgen's.
type plugin struct{}

// Name tells it from others.
func (plugin) Name() string { return "direct" }

// GenerateCode writes direct.go beside what gqlgen writes.
func (plugin) GenerateCode(data *codegen.Data) error {
	g, err := newGenerator(data)
	if err != nil {
		return err
	}
	return templates.Render(templates.Options{
		PackageName:     data.Config.Exec.Package,
		Filename:        filepath.Join(filepath.Dir(data.Config.Exec.Filename), "direct.go"),
		Template:        fileTemplate,
		Data:            g,
		GeneratedHeader: true,
		Packages:        data.Config.Packages,
	})
}
