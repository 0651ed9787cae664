//go:build linux

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// reached waits until a program can be collected from.
func reached(ctx context.Context, t *testing.T, program *dotnettest.Program) {
	t.Helper()
	dotnettest.Until(ctx, t, "the program can be collected from", func() bool {
		_, err := diag.Find(ctx, program.PID)
		return err == nil
	})
}

// grown waits until a file is larger than a size.
func grown(ctx context.Context, t *testing.T, path string, size int64) {
	t.Helper()
	dotnettest.Until(ctx, t, path+" grows", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > size
	})
}

// collected waits until a trace that is still written has n whole collections that the
// program saw end, too.
func collected(ctx context.Context, t *testing.T, path string, program *dotnettest.Program, n int) {
	t.Helper()
	dotnettest.Until(ctx, t, fmt.Sprintf("%s has %d collections", path, n), func() bool { return len(seenIn(ctx, path, program)) >= n })
}

// seenIn returns the collections that the program saw end and that the trace has whole. If
// collections follow each other closely, a background collection cannot be compared,
// because the runtime reports it with the number of a later one.
func seenIn(ctx context.Context, path string, program *dotnettest.Program) (seen []dotnettest.Truth) {
	rows, err := readRows(ctx, path)
	if err != nil {
		return nil // nothing is written yet
	}
	for _, truth := range program.Truth() {
		row := rowOf(rows, truth.Number)
		if row != nil && row.Complete && !row.Affected && (row.Kind == "background" || !truth.Concurrent) {
			seen = append(seen, truth)
		}
	}
	return seen
}

// A gcsRow is a line of gcs, as far as it is compared.
type gcsRow struct {
	Number      uint32  `json:"number"`
	StartMS     float64 `json:"start_ms"`
	Runtime     string  `json:"runtime"`
	Generation  int     `json:"generation"`
	Kind        string  `json:"kind"`
	Promoted    int64   `json:"promoted_bytes"`
	Pinned      int64   `json:"pinned_objects"`
	PauseMS     float64 `json:"pause_ms"`
	Complete    bool    `json:"complete"`
	Affected    bool    `json:"affected_by_loss"`
	Generations []struct {
		Before        int64 `json:"before_bytes"`
		After         int64 `json:"after_bytes"`
		Fragmentation int64 `json:"fragmentation_bytes"`
	} `json:"generations"`
}

// gcsRows returns the rows that gcs prints for a file.
func gcsRows(ctx context.Context, t *testing.T, path string) []gcsRow {
	t.Helper()
	all, err := readRows(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rowOf returns the row of a collection, or nil.
func rowOf(rows []gcsRow, number uint32) *gcsRow {
	for i := range rows {
		if rows[i].Number == number {
			return &rows[i]
		}
	}
	return nil
}

func readRows(ctx context.Context, path string) (all []gcsRow, err error) {
	code, out, talk := gctrail(ctx, "gcs", "--format", "jsonl", path)
	if code != 0 {
		return nil, fmt.Errorf("gcs: exit code %d: %s", code, talk)
	}
	for line := range strings.Lines(out) {
		var r gcsRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// TestCollectTruth: the collections in the file equal the program's own records.
func TestCollectTruth(t *testing.T) {
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			ctx := patient(t)
			program := dotnettest.Start(t, version, "web", 600)
			reached(ctx, t, program)
			path := filepath.Join(t.ArtifactDir(), "web.nettrace")
			enough, interrupt := context.WithCancel(ctx)
			defer interrupt()
			go func() {
				defer interrupt()
				collected(ctx, t, path, program, 20)
			}()
			code, _, talk := gctrail(enough, "collect", "-p", strconv.Itoa(program.PID), "-o", path)
			if code != 0 || !strings.Contains(talk, "Total pause") {
				t.Fatalf("exit code %d: %s", code, talk)
			}
			program.Terminate()
			seen := make(map[uint32]*gcsRow)
			var first, last, background uint32
			for _, r := range gcsRows(ctx, t, path) {
				if r.Complete && first == 0 {
					first = r.Number
				}
				if version > 8 && !strings.HasPrefix(r.Runtime, fmt.Sprintf(".NET %d.", version)) {
					t.Fatalf("collection %d: runtime %q", r.Number, r.Runtime)
				}
				seen[r.Number] = &r
				last = max(last, r.Number)
				if r.Kind == "background" {
					background = max(background, r.Number)
				}
			}
			compared := 0
			for _, truth := range program.Truth() {
				// The first and the last few may have begun before the trace, or end
				// after it.
				if truth.Number < first+2 || truth.Number+2 > last {
					continue
				}
				if row := seen[truth.Number]; truth.Number == background && row != nil && !row.Complete {
					continue // it still ran at the end of the trace, others inside it did not
				}
				compareRow(t, seen[truth.Number], &truth)
				compared++
			}
			if compared < 10 {
				t.Errorf("%d collections were compared, from %d to %d", compared, first, last)
			}
			t.Logf("%d collections, %d of them compared", len(seen), compared)
		})
	}
}

// compareRow holds sizes to the byte.
func compareRow(t *testing.T, r *gcsRow, truth *dotnettest.Truth) {
	t.Helper()
	background := r != nil && r.Kind == "background"
	switch {
	case r == nil:
		t.Errorf("collection %d is missing", truth.Number)
		return
	case !r.Complete, r.Affected, r.Generation != truth.Generation, background != truth.Concurrent, r.Pinned != truth.Pinned,
		!background && r.Promoted != truth.Promoted, len(r.Generations) != len(truth.Generations):
		t.Errorf("collection %d: %+v, want %+v", truth.Number, r, truth)
		return
	}
	for i, g := range r.Generations {
		if want := truth.Generations[i]; [3]int64{g.Before, g.After, g.Fragmentation} != [3]int64{want[0], want[2], want[3]} {
			t.Errorf("collection %d, generation %d: %+v, want %v", truth.Number, i, g, want)
		}
	}
}

// TestCollectKilled: a process that is killed leaves a file that is whole, with
// all but its last collections.
func TestCollectKilled(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	program := dotnettest.Start(t, 10, "web", 600)
	reached(ctx, t, program)
	path := filepath.Join(t.ArtifactDir(), "web.nettrace")
	go func() {
		collected(ctx, t, path, program, 1)
		program.Process.Kill()
	}()
	code, _, talk := gctrail(ctx, "collect", "-n", program.Name, "--profile", "gc-verbose", "-o", path)
	if code != 0 || !strings.Contains(talk, "exited without ending the trace") || !strings.Contains(talk, "collection") {
		t.Errorf("exit code %d: %s", code, talk)
	}
	if n := len(dotnettest.MustEndFile(t, path)); n == 0 || len(gcsRows(ctx, t, path)) != n {
		t.Errorf("%d collections", n)
	}
}

// TestCollectInterrupted presses Ctrl-C: the file has the end that the runtime
// gave it, and the figures are said.
func TestCollectInterrupted(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	program := dotnettest.Start(t, 9, "web", 600)
	reached(ctx, t, program)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "gctrail") // by this name it is; see TestMain
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.ArtifactDir(), "web.nettrace")
	cmd := exec.CommandContext(ctx, binary, "collect", "--name", program.Name, "-o", path)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	collected(ctx, t, path, program, 1)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, talk.String())
	}
	if text := talk.String(); !strings.Contains(text, "Total pause") || strings.Contains(text, "ended without") {
		t.Error(text)
	}
	code, _, said := gctrail(ctx, "gcs", path)
	if code != 0 || strings.Contains(said, "ends early") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
