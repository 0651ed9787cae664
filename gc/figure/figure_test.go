package figure_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// collections are taken from real traces, which together know every figure.
func collections(t *testing.T) []*gc.Collection {
	t.Helper()
	var all []*gc.Collection
	for _, name := range []string{"net10-wks-web-collect.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz", "net10-wks-background-collect.nettrace.gz", "net10-wks-stacks.nettrace.gz"} {
		in, err := open.File(filepath.Join("../../testdata", name), open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		var model gc.Model
		for c, err := range model.Collections(in.Source) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		in.Close()
	}
	return all
}

// Values have the type that the table states, and a figure that is always known is.
func TestTypes(t *testing.T) {
	all := collections(t)
	for _, f := range append(figure.All(), figure.Lines()...) {
		if f.Items != nil {
			continue
		}
		known := false
		for _, c := range all {
			v := f.Value(c)
			switch {
			case v.Type == figure.Unknown && f.Always:
				t.Errorf("%s of %d is unknown", f.Key, c.Number)
			case v.Type == figure.Unknown:
				continue
			case v.Type != f.Type && (f.Type != figure.Time || v.Type != figure.Millis):
				t.Errorf("%s: %v, want %v", f.Key, v.Type, f.Type)
			}
			known = true
		}
		if !known {
			t.Errorf("%s is unknown everywhere", f.Key)
		}
	}
}

// Each output has a figure once.
func TestKeys(t *testing.T) {
	for _, figures := range [][]figure.Figure{figure.All(), figure.Lines()} {
		seen := make(map[string]bool)
		for _, f := range figures {
			if seen[f.Key] {
				t.Errorf("%s is there twice", f.Key)
			}
			seen[f.Key] = true
		}
	}
}

// Fields of items have the types that the table states.
func TestItems(t *testing.T) {
	all := collections(t)
	for _, f := range figure.Lines() {
		if f.Items == nil {
			continue
		}
		fields := f.Items.Fields()
		known := make([]bool, len(fields))
		for _, c := range all {
			n, _ := f.Items.Len(c)
			items := 0
			f.Items.Append(nil, c, func(dst []byte, item, field int, v figure.Value) []byte {
				if v.Type == figure.Unknown && fields[field].Always || v.Type != figure.Unknown && v.Type != fields[field].Type {
					t.Errorf("%s.%s: %v, want %v", f.Key, fields[field].Key, v.Type, fields[field].Type)
				}
				known[field] = known[field] || v.Type != figure.Unknown
				items = item + 1
				return dst
			})
			if items != n {
				t.Errorf("%s: %d items of %d", f.Key, items, n)
			}
		}
		for i, field := range fields {
			if !known[i] {
				t.Errorf("%s.%s is unknown everywhere", f.Key, field.Key)
			}
		}
	}
}

// A figure without a definition of its own has that of another figure, and no two have one
// name.
func TestDefinitions(t *testing.T) {
	defined := make(map[string][]string)
	for _, d := range figure.Definitions() {
		if d.Name == "" || d.Unit == "" || d.Text == "" || d.Source == "" {
			t.Errorf("%+v lacks a part", d)
		}
		if defined[d.Name] != nil {
			t.Errorf("%q is defined twice", d.Name)
		}
		defined[d.Name] = d.Keys
	}
	check := func(key, term string) {
		if term != "" && !slices.Contains(defined[term], key) {
			t.Errorf("%s is not a key of %q: %q", key, term, defined[term])
		}
	}
	for _, f := range slices.Concat(figure.All(), figure.Lines(), figure.Conditions()) {
		if stem, ofGeneration := generation(f.Key); ofGeneration {
			check("GEN_"+stem, f.Term)
			continue
		}
		check(f.Key, f.Term)
		if f.Items != nil {
			for _, field := range f.Items.Fields() {
				check(field.Key, field.Term)
			}
		}
	}
}

// generation returns the key of a generation's figure without the generation.
func generation(key string) (stem string, found bool) {
	for _, name := range gc.GenerationNames() {
		if stem, found = strings.CutPrefix(key, name+"_"); found {
			return stem, true
		}
	}
	return "", false
}

// shown returns a value as the golden file has it.
func shown(v figure.Value) string {
	switch v.Type {
	case figure.Float, figure.Percent, figure.Rate:
		return fmt.Sprintf("%v %g", v.Type, v.Float())
	default:
		return fmt.Sprintf("%v %d %q", v.Type, v.Int, v.Text)
	}
}

// TestTable holds the name of each figure in each output, and its value in a collection.
func TestTable(t *testing.T) {
	all := collections(t)
	var b strings.Builder
	list := func(title string, figures []figure.Figure, of func(f *figure.Figure) string) {
		fmt.Fprintf(&b, "\n%s\n", title)
		for i := range figures {
			fmt.Fprintf(&b, "  %s: %s\n", figures[i].Key, of(&figures[i]))
		}
	}
	value := func(f *figure.Figure) string {
		for _, c := range all {
			if v := f.Value(c); v.Type != figure.Unknown && (v.Text != "" || v.Int != 0) {
				return fmt.Sprintf("%d: %s", c.Number, shown(v))
			}
		}
		return "nothing"
	}
	list("columns", figure.All(), func(f *figure.Figure) string { return fmt.Sprintf("%q, %v, %s", f.Heading, f.Type, value(f)) })
	list("lines", slices.DeleteFunc(figure.Lines(), func(f figure.Figure) bool { return f.Items != nil }), func(f *figure.Figure) string {
		return fmt.Sprintf("%v, %s", f.Type, value(f))
	})
	list("list", figure.InList(), func(f *figure.Figure) string { return fmt.Sprintf("%q, %v, %+v", f.Heading, f.Form, *f.Listed) })
	list("conditions", figure.Conditions(), func(f *figure.Figure) string {
		return fmt.Sprintf("%s, %s, %s, below %d, %s", f.Until.Word, f.Until.Meaning, f.Until.Example, f.Until.Below, value(f))
	})
	list("page", figure.OnPage(), func(f *figure.Figure) string { return fmt.Sprintf("%+v", *f.Page) })
	list("timelines", figure.InTimelines(), func(f *figure.Figure) string { return f.Label })
	extent.Golden(t, "testdata/table.txt", b.String())
}
