package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// assembleCTF writes an assembled LTTng trace, and returns its folder.
func assembleCTF(t *testing.T, text string) string {
	t.Helper()
	files, err := tracetest.CTF(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, f := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReportDeclared: LTTng enables events by name. Where GCStart was not enabled,
// that none came says nothing of the collector.
func TestReportDeclared(t *testing.T) {
	const (
		header = `trace
clock seconds=1700000000
stream 0 context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCTriggered fields=[u32:Reason u16:ClrInstanceID]
`
		start  = "event 1 DotNETRuntime:GCStart_V2 fields=[u32:Count u32:Depth u32:Reason u32:Type u16:ClrInstanceID u64:ClientSequenceNumber]\n"
		stream = "file c_0\npacket begin=0 end=%s discarded=%s\n  ev 0 time=1 context=[7 8] 0 0\n  ev 0 time=%s full 0 0\n"
		second = "000000000"
	)
	traced := func(length, discarded string) string {
		return strings.NewReplacer("end=%s", "end="+length, "discarded=%s", "discarded="+discarded, "time=%s", "time="+length).Replace(stream)
	}
	for _, c := range []struct{ name, text, want string }{
		{"no GCStart", header + traced("9"+second, "0"), "No verdict: the event GCStart was not enabled, so GCs were not recorded."},
		{"GCStart", header + start + traced("12"+second, "0"), "No GC happened in 12.0 s, so GC pauses did not slow the program in that time."},
		{"a short time", header + start + traced("9"+second, "0"), "No verdict: no GC happened in 9.00 s, which is too short to judge."},
		{"loss", header + start + traced("9"+second, "1"), "No verdict: the trace has no GC, and events are missing."},
	} {
		if out := report80(t, assembleCTF(t, c.text)); !strings.HasPrefix(strings.Join(strings.Fields(out), " "), c.want) {
			t.Errorf("%s: want %q, got:\n%s", c.name, c.want, out)
		}
	}
}

// TestReportNamesUndeclared reads a trace in which only GCStart and GCEnd were
// enabled: collections are counted and timed, and nothing else is known.
func TestReportNamesUndeclared(t *testing.T) {
	const path = "../../testdata/net20-lttng-gcstart-gcend.trace.zip"
	out := strings.Join(strings.Fields(report80(t, path)), " ")
	for _, want := range []string{
		"no GC in this trace has a complete pause",
		"events that were not enabled: pauses (GCSuspendEEBegin, GCSuspendEEEnd, GCRestartEEBegin, GCRestartEEEnd); " +
			"sizes (GCHeapStats, GCPerHeapHistory, GCGlobalHeapHistory); allocation (GCAllocationTick).",
		"$ lttng enable-event --userspace 'DotNETRuntime:GC*'",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	list, talk, code := on(t, 0, "gcs", "--format", "jsonl", path)
	if lines := strings.Count(list, "\n"); code != exitDone || lines != 12 || strings.Count(list, `"pause_ms":null`) != 12 || strings.Contains(list, `"duration_ms":null`) {
		t.Errorf("exit %d, %d collections:\n%s%s", code, lines, list, talk)
	}
}
