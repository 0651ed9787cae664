package units_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/live"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// enums are the number types of the public packages that have a String or an Error
// method. One of the types that clr generates from its table represents all of these.
var enums = map[string]reflect.Type{
	"clr.GCReason":         reflect.TypeFor[clr.GCReason](),
	"clr.GlobalMechanisms": reflect.TypeFor[clr.GlobalMechanisms](),
	"clr.Kind":             reflect.TypeFor[clr.Kind](),
	"diag.HRESULT":         reflect.TypeFor[diag.HRESULT](),
	"diag.Switch":          reflect.TypeFor[diag.Switch](),
	"gc.Kind":              reflect.TypeFor[gc.Kind](),
	"gc.Certainty":         reflect.TypeFor[gc.Certainty](),
	"gc.PauseKind":         reflect.TypeFor[gc.PauseKind](),
	"gc.TimeSource":        reflect.TypeFor[gc.TimeSource](),
	"alloc.Source":         reflect.TypeFor[alloc.Source](),
	"alloc.Heap":           reflect.TypeFor[alloc.Heap](),
	"background.Phase":     reflect.TypeFor[background.Phase](),
	"heap.RootKind":        reflect.TypeFor[heap.RootKind](),
	"heap.Grouping":        reflect.TypeFor[heap.Grouping](),
	"join.Cause":           reflect.TypeFor[join.Cause](),
	"join.TuningKind":      reflect.TypeFor[join.TuningKind](),
	"figure.Type":          reflect.TypeFor[figure.Type](),
	"symbol.Reason":        reflect.TypeFor[symbol.Reason](),
	"findings.Action":      reflect.TypeFor[findings.Action](),
	"findings.Recording":   reflect.TypeFor[findings.Recording](),
	"findings.Severity":    reflect.TypeFor[findings.Severity](),
	"findings.Confidence":  reflect.TypeFor[findings.Confidence](),
	"stats.Part":           reflect.TypeFor[stats.Part](),
	"live.Kind":            reflect.TypeFor[live.Kind](),
	"otlp.Signal":          reflect.TypeFor[otlp.Signal](),
	"trace.Exactness":      reflect.TypeFor[trace.Exactness](),
}

// TestAnyValue calls every method without arguments of every enumeration with
// values that have names and with values that have none.
func TestAnyValue(t *testing.T) {
	for name, typ := range enums {
		t.Run(name, func(t *testing.T) {
			for _, n := range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 9, 31, 32, 100, 127, 128, 254, 255, 256, math.MaxInt32, math.MaxUint32} {
				v := reflect.New(typ).Elem()
				if v.OverflowUint(n) {
					continue
				}
				v.SetUint(n)
				for i := range typ.NumMethod() {
					if m := v.Method(i); m.Type().NumIn() == 0 {
						m.Call(nil)
					}
				}
			}
		})
	}
}

// TestAllListed finds the enumerations of all public packages in their source.
func TestAllListed(t *testing.T) {
	found := map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "internal" || d.Name() == "testdata" || d.Name() == "tools" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || d.Name() == "enums_gen.go":
			return nil
		}
		return enumsOf(path, found)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if enums[name] == nil {
			t.Errorf("%s is not among the enumerations that are tested", name)
		}
	}
}

// numbers are the types that enumerations are made of.
var numbers = map[string]bool{"uint8": true, "uint16": true, "uint32": true, "uint64": true, "uint": true, "int": true}

// enumsOf adds the exported number types of a file that have a name for their
// values. Types and their methods are in one file.
func enumsOf(path string, found map[string]bool) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	types := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if base, ok := n.Type.(*ast.Ident); ok && n.Name.IsExported() && numbers[base.Name] {
				types[n.Name.Name] = true
			}
		case *ast.FuncDecl:
			if n.Recv == nil || n.Name.Name != "String" && n.Name.Name != "Error" {
				return false
			}
			if recv, ok := n.Recv.List[0].Type.(*ast.Ident); ok && types[recv.Name] {
				found[f.Name.Name+"."+recv.Name] = true
			}
		}
		return true
	})
	return nil
}

func TestName(t *testing.T) {
	if got := fmt.Sprint(gc.Blocking, gc.Kind(9)); got != "blocking Kind(9)" {
		t.Error(got)
	}
}
