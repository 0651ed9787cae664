//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestUntilTruth: real processes are collected from until a collection meets a
// condition, twice. What is kept is what the program saw, with its own figures.
func TestUntilTruth(t *testing.T) {
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			ctx := patient(t)
			program := dotnettest.Start(t, version, "web", 600, dotnettest.Often)
			reached(ctx, t, program)
			dir := t.ArtifactDir()
			code, _, talk := gctrail(ctx, "collect", "-p", strconv.Itoa(program.PID), "-o", filepath.Join(dir, "web.nettrace"),
				"--until", "gen=2 and pause>0.1ms", "--before", "1s", "--after", "1s", "--repeat", "2")
			if code != 0 || strings.Count(talk, "Total pause") != 2 {
				t.Fatalf("exit code %d: %s", code, talk)
			}
			program.Terminate()
			whole, compared := make(map[uint32]bool), 0
			for _, name := range []string{"web-1.nettrace", "web-2.nettrace"} {
				rows := gcsRows(ctx, t, filepath.Join(dir, name))
				for _, r := range rows {
					if r.Complete && whole[r.Number] {
						t.Errorf("%s: collection %d is whole in the file before it", name, r.Number)
					}
					whole[r.Number] = whole[r.Number] || r.Complete
				}
				if !slices.ContainsFunc(rows, func(r gcsRow) bool { return r.Complete && r.Generation == 2 && r.PauseMS > 0.1 }) {
					t.Errorf("%s: the collection that was waited for is missing", name)
				}
				compared += compareTruth(t, rows, program, version)
			}
			if compared < 5 {
				t.Errorf("%d collections were compared", compared)
			}
			mustBeAlone(t, dir, "web-1.nettrace", "web-2.nettrace")
		})
	}
}

// compareTruth compares collections with the ones that the program saw, and returns their
// number. It leaves out the first and the last few, which may have begun before the trace
// or end after it, and background ones, because their kind is unknown without their
// start.
func compareTruth(t *testing.T, rows []gcsRow, program *dotnettest.Program, version int) (compared int) {
	t.Helper()
	for _, truth := range program.Truth() {
		i := slices.IndexFunc(rows, func(r gcsRow) bool { return r.Number == truth.Number })
		if i < 3 || i >= len(rows)-3 || !rows[i].Complete && (rows[i].Kind == "background" || rows[i].Kind == "") {
			continue
		}
		compareRow(t, &rows[i], &truth)
		compared++
		if version > 8 && !strings.HasPrefix(rows[i].Runtime, fmt.Sprintf(".NET %d.", version)) {
			t.Fatalf("collection %d: runtime %q", truth.Number, rows[i].Runtime)
		}
	}
	return compared
}

// mustBeAlone checks that there are no files besides the named ones.
func mustBeAlone(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if !slices.Equal(found, names) {
		t.Errorf("%v are there, want %v", found, names)
	}
}

// TestKeepKilled: a process that dies leaves its latest events.
func TestKeepKilled(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	program := dotnettest.Start(t, 10, "web", 600, dotnettest.Often)
	reached(ctx, t, program)
	dir := t.ArtifactDir()
	path := filepath.Join(dir, "web.nettrace")
	go func() {
		defer program.Process.Kill()
		dotnettest.Until(ctx, t, "there is more than is kept", func() bool {
			for _, segment := range segments(path) {
				if rows, err := readRows(ctx, segment); err == nil && len(rows) > 1 && rows[len(rows)-1].StartMS-rows[0].StartMS > 2000 {
					return true
				}
			}
			return false
		})
	}()
	code, _, talk := gctrail(ctx, "collect", "-p", strconv.Itoa(program.PID), "--keep", "1s", "-o", path)
	if code != 0 || !strings.Contains(talk, "exited without ending the trace") || strings.Contains(talk, "was never met") {
		t.Errorf("exit code %d: %s", code, talk)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, r := dotnettest.Collections(t, b)
	if len(all) == 0 || r.Loss().Events > 0 {
		t.Errorf("%d collections in %v, %d events lost", len(all), r.Info().Last, r.Loss().Events)
	}
	mustBeAlone(t, dir, "web.nettrace")
}

// TestRingKilled: when gctrail itself is killed, every segment of its ring is a
// trace, which the next ring leaves alone.
func TestRingKilled(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	program := dotnettest.Start(t, 10, "handles", 600, dotnettest.Often)
	reached(ctx, t, program)
	path := filepath.Join(t.ArtifactDir(), "web.nettrace")
	ring := func() *collecting {
		return newCollecting(ctx, t, "-p", strconv.Itoa(program.PID), "--profile", "gc-verbose", "--keep", "20MB", "-o", path).start()
	}
	c := ring()
	dotnettest.Until(ctx, t, "whole segments have collections", func() bool {
		found := segments(path)
		return len(found) >= 5 && slices.ContainsFunc(found[1:len(found)-1], func(segment string) bool {
			return len(seenIn(ctx, segment, program)) > 0
		})
	})
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	found := segments(path)
	compared := 0
	for i, segment := range found {
		info, err := os.Stat(segment)
		if err != nil {
			t.Fatal(err)
		}
		// The last one may have been hit before its first write.
		if i == len(found)-1 && info.Size() == 0 {
			continue
		}
		rows := gcsRows(ctx, t, segment)
		for _, truth := range seenIn(ctx, segment, program) {
			compareRow(t, rowOf(rows, truth.Number), &truth)
			compared++
		}
	}
	if len(found) < 4 || compared == 0 {
		t.Errorf("%v are left, %d collections were compared", found, compared)
	}

	// The next one leaves them alone, and when it is asked to end its file only.
	c = ring()
	dotnettest.Until(ctx, t, "the next ring has a collection", func() bool {
		all := segments(path)
		return len(all) > len(found)+1 && slices.ContainsFunc(all[len(found):], func(segment string) bool {
			return len(seenIn(ctx, segment, program)) > 0
		})
	})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.ends(0, "Pauses took", "$ gctrail ")
	if left := segments(path); !slices.Equal(left, found) {
		t.Errorf("%v are left, want %v", left, found)
	}
	dotnettest.MustEndFile(t, path)
}

// segments returns the files of the rings for a path, the oldest first.
func segments(path string) []string {
	found, _ := filepath.Glob(strings.TrimSuffix(path, ".nettrace") + ".ring-*.nettrace")
	return found
}

// TestUntilInduced: a program that asks for collections of every kind.
func TestUntilInduced(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	program := dotnettest.Start(t, 10, "induced", 600)
	reached(ctx, t, program)
	dir := t.ArtifactDir()
	path := filepath.Join(dir, "induced.nettrace")
	code, _, talk := gctrail(ctx, "collect", "-p", strconv.Itoa(program.PID), "-o", path,
		"--until", "number>=100 and gen=2 and pause>1ms and reason!=AllocSmall", "--before", "1s", "--after", "2s")
	if code != 0 || !strings.Contains(talk, "met the condition: 1s before it and 2s after it") {
		t.Fatalf("exit code %d: %s", code, talk)
	}
	rows := gcsRows(ctx, t, path)
	met := slices.IndexFunc(rows, func(r gcsRow) bool {
		return r.Complete && r.Number >= 100 && r.Generation == 2 && r.PauseMS > 1
	})
	if met < 0 || met == len(rows)-1 || slices.ContainsFunc(rows, func(r gcsRow) bool { return r.Affected }) {
		t.Errorf("of %d collections, the one that was waited for is %d", len(rows), met)
	}
	mustBeAlone(t, dir, "induced.nettrace")
}
