package profile_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
)

// TestProfile checks that samples are stacks from the outermost frame on, and weights
// bytes, which end where their sum is.
func TestProfile(t *testing.T) {
	row := func(typ string, objects, bytes int64) alloc.Row {
		return alloc.Row{Type: typ, Objects: objects, Estimate: alloc.Estimate{Bytes: bytes}}
	}
	var out bytes.Buffer
	err := profile.WriteSpeedscope(&out, profile.Allocations([]*export.Allocations{{
		Process: &gc.Process{Name: "web"}, Rows: []alloc.Row{row("A", 3, 100), row("B", 4, 50)},
	}}), "name")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Name, Unit           string
			StartValue, EndValue int64
			Samples              [][]int
			Weights              []int64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Profiles) != 1 {
		t.Fatalf("%d profiles", len(got.Profiles))
	}
	p := got.Profiles[0]
	var stacks [][]string
	for _, s := range p.Samples {
		var names []string
		for _, i := range s {
			names = append(names, got.Shared.Frames[i].Name)
		}
		stacks = append(stacks, names)
	}
	if want := [][]string{{"(no stack)", "Type A"}, {"(no stack)", "Type B"}}; !reflect.DeepEqual(stacks, want) {
		t.Errorf("stacks %v, want %v", stacks, want)
	}
	if p.Name != "Allocations of web" || p.Unit != "bytes" || p.StartValue != 0 || p.EndValue != 150 || !reflect.DeepEqual(p.Weights, []int64{100, 50}) {
		t.Errorf("%+v", p)
	}
}
