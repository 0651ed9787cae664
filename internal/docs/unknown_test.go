package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// forms maps the types of fields that identify a process, a thread or a processor, or
// count processors, to the name of the unknown value. It is not 0 for ids, because ids in
// traces can be 0.
var forms = map[string]string{
	"uint64": "UnknownID", // of package trace
	"uint32": "UnknownCPU",
	"int":    "0 if unknown", // of running processes, and numbers of processors
}

var identifies = map[string]bool{"PID": true, "InnerPID": true, "TID": true, "CPU": true, "CPUs": true}

// TestUnknownIDs holds fields of public structs to one form for each kind of what is not
// known, and their documentation to saying so. A field that is always known says that.
func TestUnknownIDs(t *testing.T) {
	seen := 0
	for _, dir := range publicPackages(t) {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok || !spec.Name.IsExported() {
					return true
				}
				fields, ok := spec.Type.(*ast.StructType)
				if !ok {
					return true
				}
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						of, plain := f.Type.(*ast.Ident)
						if !identifies[name.Name] || !plain || forms[of.Name] == "" {
							continue
						}
						seen++
						said := f.Doc.Text() + f.Comment.Text()
						if !strings.Contains(said, forms[of.Name]) && !strings.Contains(said, "always known") {
							t.Errorf("%s: %s.%s does not say that it is %q, or always known", path, spec.Name, name, forms[of.Name])
						}
					}
				}
				return true
			})
		}
	}
	if seen < 20 {
		t.Errorf("only %d fields", seen)
	}
}
