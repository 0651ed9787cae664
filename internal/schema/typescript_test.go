package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/report"
)

//go:generate go test -run TestTypeScript -update

// TestTypeScript holds the page's types to the values that it is given; -update writes them.
func TestTypeScript(t *testing.T) {
	w := interfaces{}
	w.add(reflect.TypeFor[report.Document]())
	extent.Golden(t, "../../web/src/data/report.ts",
		"// The report as gctrail report --format json --full prints it. Made of internal/report by go generate ./internal/schema.\n"+w.text.String())
}

// interfaces are the types of objects in TypeScript, each behind the types it is made of.
type interfaces struct {
	text strings.Builder
	done []string
}

func (w *interfaces) add(t reflect.Type) {
	if slices.Contains(w.done, t.Name()) {
		return
	}
	w.done = append(w.done, t.Name())
	var lines strings.Builder
	keys(t, func(key string, of reflect.Type) { fmt.Fprintf(&lines, "  %s: %s;\n", key, w.typeOf(of)) })
	fmt.Fprintf(&w.text, "\nexport interface %s {\n%s}\n", t.Name(), lines.String())
}

// typeOf returns a type, and adds the objects in it.
func (w *interfaces) typeOf(t reflect.Type) string {
	of, nullable := unwrapped(t)
	name := word(of)
	switch of.Kind() {
	case reflect.Slice:
		if name = w.typeOf(of.Elem()); strings.Contains(name, " ") {
			name = "(" + name + ")"
		}
		name += "[]"
	case reflect.Map:
		name = "Record<string, " + w.typeOf(of.Elem()) + ">"
	case reflect.Struct:
		w.add(of)
		name = of.Name()
	}
	if name == "integer" {
		name = "number"
	}
	if nullable {
		name += " | null"
	}
	return name
}
