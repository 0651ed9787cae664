package pass_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// An asked model knows something of a trace when it has read it.
type asked struct {
	name  string
	model pass.Model
	knows func(pid uint64) string
}

// askedModels returns a model of each package, with all that it knows of a process.
func askedModels() []asked {
	var (
		allocs     alloc.Model
		phases     []background.Collection
		handles    handle.Handles
		pins       handle.Pins
		finalizers handle.Finalizers
		joins      []join.Collection
		tunings    join.Tunings
		segments   heap.Segments
	)
	return []asked{
		{"alloc", &allocs, func(pid uint64) string {
			return fmt.Sprint(allocs.Totals(), allocs.Rows(pid, alloc.Tick, alloc.ByType))
		}},
		{"background", &background.Model{Done: func(c *background.Collection) { phases = append(phases, *c) }}, func(uint64) string { return fmt.Sprint(phases) }},
		{"handles", &handles, func(pid uint64) string { return fmt.Sprint(handles.Processes(), handles.Rows(pid, false)) }},
		{"pins", &pins, func(pid uint64) string { return fmt.Sprint(pins.Processes(), pins.Rows(pid)) }},
		{"finalizers", &finalizers, func(pid uint64) string { return fmt.Sprint(finalizers.Processes(), finalizers.Rows(pid)) }},
		{"join", &join.Model{Done: func(c *join.Collection) {
			d := *c
			d.Rows = slices.Clone(c.Rows)
			joins = append(joins, d)
		}}, func(uint64) string { return fmt.Sprint(joins) }},
		{"tunings", &tunings, func(uint64) string { return fmt.Sprint(tunings.All()) }},
		{"segment", &segments, func(pid uint64) string {
			all := ""
			for number := range uint32(1000) {
				if s, known := segments.Remove(pid, 0, number); known {
					all += fmt.Sprintln(number, s)
				}
			}
			return all
		}},
	}
}

// collections reads a trace, and returns its collections and its process.
func collections(t *testing.T, path string, models ...pass.Model) (all string, pid uint64) {
	t.Helper()
	var m gc.Model
	want := append([]pass.Model{&m}, models...)
	in, err := open.File(path, open.Options{Want: pass.Wants(want...), Head: pass.Head(want...), Runs: pass.Runs(want...)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for c, err := range m.Collections(in.Source, models...) {
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(c.Number, c.Start, c.End, c.Pause(), c.HeapAfter, c.Allocated, c.Complete, c.AffectedByLoss)
	}
	return all, in.Source.Info().PID
}

// TestTogether: models that read a trace together, in runs, know what each knows that reads it
// alone, one by one, and the collections are the same.
func TestTogether(t *testing.T) {
	known := make(map[string]bool)
	for _, name := range []string{"net10-lossy-handles", "net10-wks-web-collect", "net10-wks-stacks", "net10-wks-own-threads-collect", "net9-srv-datas-web-collect"} {
		path := "../../testdata/" + name + ".nettrace.gz"
		without, _ := collections(t, path)
		together := askedModels()
		var models []pass.Model
		for _, a := range together {
			models = append(models, a.model)
		}
		with, pid := collections(t, path, models...)
		if without == "" || with != without {
			t.Errorf("%s: collections differ", name)
		}
		for i, alone := range askedModels() {
			in, err := open.File(path, open.Options{Want: pass.Wants(alone.model), Head: pass.Head(alone.model)})
			if err != nil {
				t.Fatal(err)
			}
			run(t, in.Source, alone.model)
			in.Close()
			want, got := alone.knows(pid), together[i].knows(pid)
			if got != want {
				t.Errorf("%s: %s knows\n%.500s\ntogether with others, and alone\n%.500s", name, alone.name, got, want)
			}
			if len(want) > len("[] []") {
				known[alone.name] = true
			}
		}
	}
	for _, a := range askedModels() {
		if !known[a.name] && a.name != "join" { // whose events no small trace has
			t.Errorf("no trace has anything for %s", a.name)
		}
	}
}
