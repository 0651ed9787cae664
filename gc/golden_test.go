package gc_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// TestFigures holds every figure of real traces, summed over the collections of a process:
// of each runtime and format, of workstation and server GC, with and without background GC,
// of processes that were killed, throttled or out of memory, and with lost events.
func TestFigures(t *testing.T) {
	extent.Golden(t, "testdata/figures.txt", figuresOfTraces(t, false, false))
}

func figuresOfTraces(t *testing.T, live, reuse bool) string {
	var b strings.Builder
	for _, name := range []string{
		"coreclr1-srv-lttng.trace.zip", "lttng216-ctf2.trace.zip", "net10-killed-web.nettrace.gz", "net10-lossy-handles.nettrace.gz",
		"net10-segments-loh.nettrace.gz", "net10-wks-allocs-snapshot.nettrace.gz", "net10-wks-background-collect.nettrace.gz",
		"net10-wks-background-nonconcurrent-collect.nettrace.gz", "net10-wks-crowded-collect.nettrace.gz", "net10-wks-exceptions.nettrace.gz",
		"net10-wks-finalizers-collect.nettrace.gz", "net10-wks-hardlimit-web-collect.nettrace.gz", "net10-wks-nogc-regions.nettrace.gz",
		"net10-wks-own-threads-collect.nettrace.gz", "net10-wks-pressure-collect.nettrace.gz", "net10-wks-throttled-collect.nettrace.gz",
		"net21-win-x86-objver3.netperf.gz", "net31-net9-lttng.trace.zip", "net8-srv-background.nettrace.gz", "net9-lttng-discarded.trace.zip",
		"net9-srv-datas-all.nettrace.gz", "netfx452-win-x64-head.etl.zip",
	} {
		in, err := open.File(filepath.Join("../testdata", name), open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		m := gc.Model{Live: live, Reuse: reuse}
		sums := make(map[*gc.Process]figures)
		for c, err := range m.Collections(in.Source) {
			if err != nil {
				t.Fatal(err)
			}
			if sums[c.Process] == nil {
				sums[c.Process] = make(figures)
			}
			sums[c.Process].add("", int64(c.Number), reflect.ValueOf(*c))
		}
		fmt.Fprintf(&b, "%s: loss %d ranges\n", name, len(in.Source.Loss().Ranges()))
		for _, p := range m.Processes() {
			of := make(figures)
			of.add("Process", 1, reflect.ValueOf(*p))
			maps.Copy(of, sums[p])
			of.write(&b)
		}
		in.Close()
	}
	return b.String()
}

// figures are the sums of all known values, by path of the field.
type figures map[string]*figureSum

// A figureSum has a sum by number too, so that values that change places change it.
type figureSum struct {
	known         int
	sum, byNumber float64
}

// add adds every exported figure of v, however deep it lies. Texts are part of the path, and
// so are the names of generations.
func (f figures) add(path string, number int64, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			f.at(path, number, 1)
		}
	case reflect.Int, reflect.Int64:
		f.at(path, number, float64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.at(path, number, float64(v.Uint()))
	case reflect.Float64:
		f.at(path, number, v.Float())
	case reflect.String:
		f.at(path+" "+v.String(), number, 1)
	case reflect.Slice:
		for i := range v.Len() {
			f.add(path, number, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			f.add(fmt.Sprintf("%s %v", path, key), number, v.MapIndex(key))
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*gc.Process]() {
			f.add(path, number, v.Elem())
		}
	case reflect.Struct:
		f.addStruct(path, number, v)
	}
}

func (f figures) addStruct(path string, number int64, v reflect.Value) {
	if known := v.MethodByName("Known"); known.IsValid() {
		if value := v.MethodByName("Get").Call(nil); value[1].Bool() {
			f.add(path, number, value[0])
		}
		return
	}
	if g, ok := v.Interface().(gc.Generation); ok {
		path += " " + g.Name
	}
	for i := range v.NumField() {
		if field := v.Type().Field(i); field.IsExported() && field.Type.Kind() != reflect.Func {
			f.add(path+" "+field.Name, number, v.Field(i))
		}
	}
}

func (f figures) at(path string, number int64, value float64) {
	s := f[path]
	if s == nil {
		s = new(figureSum)
		f[path] = s
	}
	s.known++
	s.sum += value
	s.byNumber += float64(value * float64(number)) // not fused, so that all processors agree
}

func (f figures) write(b *strings.Builder) {
	for _, path := range slices.SortedFunc(maps.Keys(f), cmp.Compare) {
		s := f[path]
		fmt.Fprintf(b, " %s: %d, %.9g, %.9g\n", path, s.known, s.sum, s.byNumber)
	}
}
