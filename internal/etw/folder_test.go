package etw

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// TestOrphanFolders removes the folders of processes that were killed, and nothing else.
func TestOrphanFolders(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	own, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	gone := []string{"gctrail-top-71-123", "gctrail-top-72-456"}
	stay := []string{
		filepath.Base(own), "gctrail-top-73-123", "gctrail-top-71", "gctrail-top--71-1", "gctrail-top-71x-1", "gctrail-71-1", "top-71-1",
		"gctrail-top-" + strconv.Itoa(os.Getpid()) + "-1",
	}
	for _, name := range append(gone, stay...) {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "top.ring-0001.etl"), []byte("events"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "gctrail-top-71-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newReplayer(t)
	f.dead = []int{71, 72, os.Getpid()}
	NewProcessFollower(f)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := slices.Sorted(slices.Values(append(stay, "gctrail-top-71-file")))
	if !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}
