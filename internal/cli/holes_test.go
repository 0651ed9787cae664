package cli

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// A holedTrace is a trace of which a part is gone.
type holedTrace struct {
	name string
	data []byte
}

// unpacked returns the files in a .zip or .tar.xz.
func unpacked(t *testing.T, name string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.OpenReader(name)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = all(t, r)
		}
		return files
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := xz.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(x); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = all(t, archive)
	}
}

func all(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packed returns files in a zip, as perfcollect makes it.
func packed(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		if strings.HasSuffix(name, "/") {
			continue
		}
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// streams returns the files of an LTTng trace that hold events, and what is in their folder
// index.
func streams(files map[string][]byte) (list []string, index func(string) string) {
	for name, data := range files {
		if _, is := files[path.Join(path.Dir(name), "metadata")]; is && path.Base(name) != "metadata" && len(data) > 0 {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list, func(name string) string { return path.Join(path.Dir(name), "index", path.Base(name)+".idx") }
}

// withoutStream removes or cuts a file of an LTTng trace, and perhaps its index.
func withoutStream(t *testing.T, r *rand.Rand, name string) holedTrace {
	t.Helper()
	files := unpacked(t, name)
	list, index := streams(files)
	stream := list[r.IntN(len(list))]
	how := "without " + stream
	if len(list) == 1 || r.IntN(2) == 0 {
		n := r.IntN(len(files[stream]))
		how = fmt.Sprintf("%s cut at %d", stream, n)
		files[stream] = files[stream][:n]
	} else {
		delete(files, stream)
	}
	if r.IntN(2) == 0 {
		delete(files, index(stream))
		how += ", no index"
	}
	return holedTrace{filepath.Base(name) + " " + how, packed(t, files)}
}

// v6 returns the events of a trace in a .nettrace of version 6.
func v6(t *testing.T, data []byte) []byte {
	t.Helper()
	in := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Stacks: true})
	var out bytes.Buffer
	var w *nettrace.Writer
	for ev, err := range in.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			info := in.Info()
			options := nettrace.WriterOptions{Version: 6, Start: info.Start, Frequency: info.Clock.Frequency, PointerSize: ev.PointerSize, PID: info.PID, CPUs: info.CPUs}
			if w, err = nettrace.NewWriter(&out, options); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(ev.TID, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cut cuts a trace: a .nettrace as it is or as version 6, or an .etl.
func cut(t *testing.T, r *rand.Rand, name string) holedTrace {
	t.Helper()
	var data []byte
	how := ""
	if strings.HasSuffix(name, ".etl.zip") {
		data = tracetest.Unzipped(t, name)
	} else if data = tracetest.Gunzip(t, name); r.IntN(2) == 0 {
		data, how = v6(t, data), " as V6"
	}
	n := len(data)/20 + r.IntN(len(data)*19/20)
	return holedTrace{fmt.Sprintf("%s%s cut at %d of %d", filepath.Base(name), how, n, len(data)), data[:n]}
}

// fixtures returns the traces that match a pattern in testdata and, for a full run, among the
// reference traces.
func fixtures(t *testing.T, patterns ...string) (paths []string) {
	t.Helper()
	for _, p := range patterns {
		if !strings.Contains(p, "/") {
			p = filepath.Join("../../testdata", p)
		} else if extent.Pick(false, false, true) {
			p = filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", p)
		} else {
			continue
		}
		found, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// whole are phrases that commands must not print about a truncated trace.
var whole = []string{
	"innocent", "no events lost", "nothing was lost", "nothing is lost", "are complete", `"within_budget"`, `"within"`, `"no_collections"`,
	"within the budget", "not slow the program",
}

// missing are the phrases about such a trace, of which each command must print one.
var missing = []string{"truncated", "missing", "lost", "damaged", "could not be read", "processors", "unknown number of events"}

// TestHoledTraces checks that no command takes a trace for whole of which a part is gone: a
// file of an LTTng trace, or the end of a file. A full run also
// takes the reference traces.
func TestHoledTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	budget := filepath.Join(dir, "budget.yaml")
	const generous = "version: 1\nlimits: {pause_pct: 99, pause_max_ms: 1e9, collections: 1e9, gen2_collections: 1e9, heap_peak_bytes: 1e15, allocated_bytes: 1e18}\nfindings: [R02]\n"
	if err := os.WriteFile(budget, []byte(generous), 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(23, 4))
	var list []holedTrace
	for _, of := range []struct {
		n        int
		make     func(*testing.T, *rand.Rand, string) holedTrace
		patterns []string
	}{
		{extent.Pick(4, 16, 100), withoutStream, []string{"*lttng*.trace.zip", "lttng/*.zip", "lttng/*.tar.xz"}},
		{extent.Pick(6, 24, 200), cut, []string{"net*.nettrace.gz", "*.etl.zip", "eventpipe/*.nettrace.gz", "etw/*.etl.zip"}},
	} {
		paths := fixtures(t, of.patterns...)
		for range of.n {
			list = append(list, of.make(t, r, paths[r.IntN(len(paths))]))
		}
	}
	for i, trace := range list {
		if !extent.Due(i, 4) {
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.trace", i))
		if err := os.WriteFile(name, trace.data, 0o600); err != nil {
			t.Fatal(err)
		}
		holed(t, &trace, name, budget)
		os.Remove(name)
	}
	t.Logf("%d traces", len(list))
}

// holed runs all commands on a trace of which a part is gone.
func holed(t *testing.T, trace *holedTrace, name, budget string) {
	t.Helper()
	for _, command := range [][]string{
		{"report"},
		{"report", "--format", "json", "--full"},
		{"report", "--budget", "1h,99%"},
		{"report", "--format", "json", "--budget", "1h,99%"},
		{"report", "--from", "1s", "--to", "1.01s"},
		{"report", "--format", "markdown"},
		{"report", "--format", "html", "-o", "-"},
		{"check", "--format", "json", "--budget", budget},
		{"check", "--budget", budget},
		{"diff", name},
		{"trend"},
		{"gcs"},
		{"allocs"},
		{"heap"},
		{"pins"},
		{"handles"},
		{"finalizers"},
		{"pauses"},
		{"joins"},
		{"phases"},
	} {
		code, out, talk := gctrail(t.Context(), append(command, name)...)
		if code == exitUnreadable {
			continue
		}
		said := strings.ToLower(strings.Join(strings.Fields(out+talk), " "))
		if slices.Contains(command, "html") {
			said, _, _ = strings.Cut(said, "<script")
		}
		for _, words := range whole {
			if strings.Contains(said, words) {
				t.Errorf("%s: %s says %q", trace.name, command, words)
			}
		}
		if !slices.ContainsFunc(missing, func(words string) bool { return strings.Contains(said, words) }) {
			t.Errorf("%s: %s does not say that events are missing: %.300s", trace.name, command, said)
		}
	}
}
