package convert

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/extent"
)

//go:generate go test -run TestDocs -update

const (
	tableBegins = "<!-- The table of fields, written by go generate ./internal/convert. -->\n"
	tableEnds   = "<!-- End of the table. -->\n"
)

// TestDocs holds the table in docs/convert.md to the treatments.
func TestDocs(t *testing.T) {
	const path = "../../docs/convert.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatal("docs/convert.md has no place for the table")
	}
	want := []byte(before + tableBegins + table() + tableEnds + after)
	if extent.Update() {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(page, want) {
		t.Error("docs/convert.md is old: run go generate ./internal/convert")
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("\n| in the new trace | fields | because |\n|---|---|---|\n")
	for _, g := range groups {
		if g.result == "" {
			continue
		}
		fields := strings.Fields(g.fields)
		for i := range fields {
			fields[i] = "`" + fields[i] + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", g.result, strings.Join(fields, " "), g.why)
	}
	omits := strings.Fields(omitted)
	fmt.Fprintf(&b, "| nothing: the event is left out | all of `%s` | the offsets in code are those of public files |\n\n", strings.Join(omits, "`, `"))
	return b.String()
}

// structs yields the structs of all kinds of events, and the nested ones.
func structs(yield func(reflect.Type)) {
	var walk func(reflect.Type)
	walk = func(s reflect.Type) {
		yield(s)
		for i := range s.NumField() {
			if f := s.Field(i).Type; f.Kind() == reflect.Slice && f.Elem().Kind() == reflect.Struct {
				walk(f.Elem())
			}
		}
	}
	for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
		walk(reflect.TypeOf(k.New()).Elem())
	}
}

// TestEveryFieldIsTreated checks that each field of each event has a treatment, unless the event
// is left out, and that no treatment is unused, or given twice.
func TestEveryFieldIsTreated(t *testing.T) {
	used := make(map[string]bool)
	structs(func(s reflect.Type) {
		if slices.Contains(strings.Fields(omitted), s.Name()) {
			return
		}
		for i := range s.NumField() {
			field := s.Field(i).Name
			own := s.Name() + "." + field
			if _, known := treatmentOf(s.Name(), field); !known {
				t.Errorf("%s has no treatment", own)
			}
			if _, ok := treatments[own]; ok {
				used[own] = true
			} else {
				used[field] = true
			}
		}
	})
	seen := make(map[string]bool)
	for _, g := range groups {
		for _, field := range strings.Fields(g.fields) {
			if seen[field] {
				t.Errorf("%s has two treatments", field)
			}
			seen[field] = true
			if !used[field] {
				t.Errorf("no event has the field %s", field)
			}
		}
	}
}

// TestTextNeverStays checks that no text, no bytes and no GUID stays as it is.
func TestTextNeverStays(t *testing.T) {
	structs(func(s reflect.Type) {
		for i := range s.NumField() {
			switch s.Field(i).Type {
			case reflect.TypeFor[clr.UTF16](), reflect.TypeFor[clr.ANSI](), reflect.TypeFor[[]byte](), reflect.TypeFor[clr.GUID]():
				if g, _ := treatmentOf(s.Name(), s.Field(i).Name); groups[g].result == "stays" {
					t.Errorf("%s.%s stays", s.Name(), s.Field(i).Name)
				}
			}
		}
	})
}
