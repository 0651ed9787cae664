package findings_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/open"
)

// TestRandomPauses makes one pause of a trace 600 ms longer: that collection is found,
// and no other.
func TestRandomPauses(t *testing.T) {
	for _, number := range []uint32{61, 81} {
		in, err := open.File("../../testdata/"+web, open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		var s findings.Set
		var m gc.Model
		for col, err := range m.Collections(in.Source) {
			if err != nil {
				t.Fatal(err)
			}
			if col.Number == number {
				if col.Kind == gc.Background {
					t.Fatal("a background GC marks while threads run: choose another")
				}
				col.Pauses[0].Duration += 600 * time.Millisecond
			}
			s.Add(col)
		}
		in.Close()
		f := find(s.Judge(findings.TraceOf(in.Source))[0].Findings, "R11")
		if f == nil {
			t.Errorf("GC %d: nothing found", number)
			continue
		}
		if f.Shown != 1 || f.Collections[0] != number {
			t.Errorf("%v (%d), want GC %d: %s", f.Collections, f.Shown, number, f.Description)
		}
	}
}

// TestNoRandomPauses checks that the rule does not fire on traces without disturbed
// pauses.
func TestNoRandomPauses(t *testing.T) {
	var paths []string
	for _, pattern := range []string{
		"../../testdata/*.net*.gz", "../../testdata/*.zip",
		"../../../shared/traces/eventpipe/*.nettrace.gz", "../../../shared/traces/lttng/*.tar.xz", "../../../shared/traces/etw/*.zip",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	clean := 0
	for _, path := range paths {
		if filepath.Base(path) == disturbed {
			continue // it has one
		}
		in, err := open.File(path, open.Options{Want: gc.Wants, Head: gc.Head})
		if err != nil {
			t.Fatal(err)
		}
		results, err := findings.Examine(in.Source, findings.Options{})
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			clean++
			if f := find(r.Findings, "R11"); f != nil {
				t.Errorf("%s: %s", path, f.Description)
			}
		}
	}
	if clean < 20 {
		t.Errorf("only %d processes", clean)
	}
}
