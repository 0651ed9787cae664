package profile_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
)

// TestProcesses checks that the process is a frame where there are several, and that no
// name ends a frame.
func TestProcesses(t *testing.T) {
	of := func(name string, bytes int64) *export.Allocations {
		return &export.Allocations{
			Process: &gc.Process{Name: name},
			Rows:    []alloc.Row{{Type: "A;B", Heap: alloc.Large, Objects: 3, Estimate: alloc.Estimate{Bytes: bytes}}},
		}
	}
	for want, processes := range map[string][]*export.Allocations{
		"(no stack);Type A:B (large) 100\n":                                          {of("web", 100)},
		"web;(no stack);Type A:B (large) 100\napi;(no stack);Type A:B (large) 200\n": {of("web", 100), of("api", 200)},
	} {
		var out bytes.Buffer
		if err := profile.WriteCollapsed(&out, profile.Allocations(processes)); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
