package open_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// publicTrace returns the path of a published trace, which is kept outside of this
// repository because of its size. The test is skipped if there is no such file.
func publicTrace(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../shared"), "traces", "real", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there; GCTRAIL_SHARED names the folder", path)
	}
	return path
}

// TestPublicLTTng reads traces of the first versions of CoreCLR, whose events are split
// into two tracepoints, or have arrays of structures in a special form. The numbers of
// events are babeltrace2's.
func TestPublicLTTng(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"auto-20151103-132930.trace.zip": {"MethodJitInliningFailed": 1576, "MethodJitTailCallSucceeded": 101, "MethodJitTailCallFailed": 50},
		"auto-20160204-162218.trace.zip": {"MethodJitInliningFailed": 1041, "MethodJitTailCallSucceeded": 76, "MethodJitTailCallFailed": 36, "GCBulkMovedObjectRanges": 81},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := open.File(publicTrace(t, name), open.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			got := map[string]int{}
			for ev, err := range in.Source.Events() {
				if err != nil {
					t.Fatal(err)
				}
				got[ev.Desc.Name]++
				if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindGCBulkMovedObjectRanges {
					checkRanges(t, ev)
				}
			}
			for name, n := range want {
				if got[name] != n {
					t.Errorf("%d events %s, want %d", got[name], name, n)
				}
			}
			if l := in.Source.Loss(); l.Exactness != trace.Exact || len(l.Ranges()) > 0 || l.Damaged > 0 {
				t.Errorf("loss %+v, want none", l)
			}
		})
	}
}

// TestPublicDiagnosticsSession reads the four files of a session of Visual Studio's
// diagnostics hub, which were rewritten when it ended: from the zip whatever its name,
// and by name in any order. The expected counts are the sums of reading each file alone.
func TestPublicDiagnosticsSession(t *testing.T) {
	const want = 62378 + 16334 + 3 + 22034
	zipped := publicTrace(t, "diaghub-etls-8e12e38.zip")
	dir := t.TempDir()
	session := filepath.Join(dir, "a.diagsession")
	data, err := os.ReadFile(zipped)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(session, data, 0o600); err != nil {
		t.Fatal(err)
	}
	names := unpack(t, dir, zipped)
	backwards := slices.Clone(names)
	slices.Reverse(backwards)
	var first []byte
	for _, paths := range [][]string{{zipped}, {session}, {filepath.Join(dir, "diaghub.etl")}, names, backwards} {
		in, err := open.Files(paths, open.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, sum := 0, sha256.New()
		for ev, err := range in.Source.Events() {
			if err != nil {
				t.Fatal(err)
			}
			n++
			fmt.Fprintln(sum, ev.Ticks, ev.Desc.Provider, ev.Desc.ID, ev.PID, ev.TID, ev.CPU, len(ev.Payload))
			sum.Write(ev.Payload)
		}
		if n != want || first != nil && !bytes.Equal(sum.Sum(nil), first) {
			t.Errorf("%s: %d events, want %d, sum %x, want %x", paths, n, want, sum.Sum(nil), first)
		}
		first = sum.Sum(nil)
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// unpack puts the files of a zip into a folder, and returns their paths.
func unpack(t *testing.T, dir, path string) (names []string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.Base(f.Name))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// checkRanges checks that moved ranges ascend, as they would not if structures were read
// from wrong offsets.
func checkRanges(t *testing.T, ev *trace.Event) {
	t.Helper()
	var moved clr.GCBulkMovedObjectRanges
	if err := moved.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize); err != nil {
		t.Error(err)
	}
	if len(moved.Values) != int(moved.Count) {
		t.Errorf("%d ranges of %d", len(moved.Values), moved.Count)
	}
	for i := range moved.Values {
		if v := &moved.Values[i]; v.NewRangeBase > v.OldRangeBase || i > 0 && v.OldRangeBase <= moved.Values[i-1].OldRangeBase {
			t.Fatalf("range %d: %+v after %+v", i, *v, moved.Values[max(i, 1)-1])
		}
	}
}
