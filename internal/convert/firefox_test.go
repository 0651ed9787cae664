package convert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
)

// columns are the columns of a table of a profile, each of the same length.
func columns(t *testing.T, name string, table map[string]any) {
	t.Helper()
	length := int(table["length"].(float64))
	for key, v := range table {
		if list, is := v.([]any); is && len(list) != length {
			t.Errorf("%s.%s has %d entries of %d", name, key, len(list), length)
		}
	}
}

// within reports whether each entry is an index below n, or null.
func within(t *testing.T, what string, list any, n int) {
	t.Helper()
	for i, v := range list.([]any) {
		if index, is := v.(float64); is && (index < 0 || int(index) >= n) {
			t.Fatalf("%s[%d] is %v of %d", what, i, v, n)
		}
	}
}

func TestFirefox(t *testing.T) {
	want := expect(t, stacks)
	var p map[string]any
	if err := json.Unmarshal(converted(t, stacks, "firefox"), &p); err != nil {
		t.Fatal(err)
	}
	shared := p["shared"].(map[string]any)
	table := func(name string) map[string]any { return shared[name].(map[string]any) }
	for _, name := range []string{"stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"} {
		columns(t, name, table(name))
	}
	length := func(name string) int { return int(table(name)["length"].(float64)) }
	within(t, "frame", table("stackTable")["frame"], length("frameTable"))
	within(t, "prefix", table("stackTable")["prefix"], length("stackTable"))
	within(t, "func", table("frameTable")["func"], length("funcTable"))
	within(t, "name", table("funcTable")["name"], len(shared["stringArray"].([]any)))

	threads := p["threads"].([]any)
	if len(threads) != 1 {
		t.Fatalf("%d threads", len(threads))
	}
	thread := threads[0].(map[string]any)
	markers := thread["markers"].(map[string]any)
	columns(t, "markers", markers)
	fields := schemaFields(p["meta"].(map[string]any))
	seen, pause, heapAfter := map[string]int{}, 0.0, 0.0
	for i, v := range markers["data"].([]any) {
		data := v.(map[string]any)
		typ := data["type"].(string)
		seen[typ]++
		for key := range data {
			if key != "type" && !fields[typ+"."+key] {
				t.Errorf("marker %d of type %s has %s, which its schema lacks", i, typ, key)
			}
		}
		switch typ {
		case "Pause":
			pause += markers["endTime"].([]any)[i].(float64) - markers["startTime"].([]any)[i].(float64)
		case "GC":
			heapAfter += data["heap_after_bytes"].(float64)
		}
	}
	if seen["Pause"] != want.pauses || seen["GC"] != want.count || seen["Finding"] == 0 || seen["Suspension"] == 0 {
		t.Errorf("markers %v, expected %d pauses and %d GCs", seen, want.pauses, want.count)
	}
	if ms := float64(want.pause) / 1e6; math.Abs(pause-ms) > 1e-6 {
		t.Errorf("pauses of %v ms, expected %v", pause, ms)
	}
	if heapAfter != float64(want.heapAfter) {
		t.Errorf("heaps after of %v, expected %v", heapAfter, want.heapAfter)
	}

	allocations := thread["jsAllocations"].(map[string]any)
	columns(t, "jsAllocations", allocations)
	within(t, "stack", allocations["stack"], length("stackTable"))
	sum, last := 0.0, 0.0
	for i, v := range allocations["weight"].([]any) {
		sum += v.(float64)
		at := allocations["time"].([]any)[i].(float64)
		if at < last {
			t.Fatalf("sample %d at %v comes after %v", i, at, last)
		}
		last = at
	}
	if want := collapsedSum(t); sum != float64(want) {
		t.Errorf("%v bytes allocated, expected %d", sum, want)
	}
}

// schemaFields are the fields that markers may have, as type.field.
func schemaFields(meta map[string]any) map[string]bool {
	fields := make(map[string]bool)
	for _, v := range meta["markerSchema"].([]any) {
		schema := v.(map[string]any)
		for _, f := range schema["fields"].([]any) {
			fields[fmt.Sprint(schema["name"], ".", f.(map[string]any)["key"])] = true
		}
	}
	return fields
}

// TestFirefoxCounters: the changes in counters add up to the heap after the last
// collection.
func TestFirefoxCounters(t *testing.T) {
	var rows []map[string]any
	for line := range bytes.Lines(converted(t, web, "jsonl")) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	var p struct {
		Counters []struct {
			Name    string
			Samples struct{ Count []float64 }
		}
	}
	if err := json.Unmarshal(converted(t, web, "firefox"), &p); err != nil {
		t.Fatal(err)
	}
	last := rows[len(rows)-1]
	want := map[string]any{"Heap": last["heap_after_bytes"], "Committed": last["committed_after_bytes"]}
	for _, v := range last["generations"].([]any) {
		g := v.(map[string]any)
		want[g["name"].(string)] = g["after_bytes"]
	}
	got := make(map[string]any)
	for _, c := range p.Counters {
		if c.Name == "Allocated" {
			continue
		}
		sum := 0.0
		for _, change := range c.Samples.Count {
			sum += change
		}
		got[c.Name] = sum
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counters end at %v, expected %v", got, want)
	}
}
