package convert_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// rewritten returns a trace as a .nettrace.
func rewritten(t *testing.T, file string, o convert.EventOptions) []byte {
	t.Helper()
	lost := lossOf(t, file)
	in, err := open.Files([]string{file}, open.Options{Stacks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if o.Selected == nil {
		o.Selected = new(selection.Selection)
	}
	o.Lost = lost
	if o.Redact != nil {
		learn(t, o.Redact, file)
	}
	var out bytes.Buffer
	if _, err := convert.Events(in.Source, &out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// learn has a Redactor read a trace ahead.
func learn(t *testing.T, r *convert.Redactor, file string) {
	t.Helper()
	in, err := open.Files([]string{file}, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for ev, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		r.Learn(ev)
	}
}

// redacted returns a trace as a .nettrace, redacted.
func redacted(t *testing.T, file string, o convert.RedactOptions) []byte {
	t.Helper()
	return rewritten(t, file, convert.EventOptions{Redact: convert.NewRedactor(o)})
}

func lossOf(t *testing.T, file string) *trace.Loss {
	t.Helper()
	in, err := open.Files([]string{file}, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	return in.Source.Loss()
}

// rows returns the figures of all collections, but the times since the start of the
// trace: that of a .nettrace has whole milliseconds, so that all of them grow by less
// than one.
func rows(t *testing.T, src trace.Source) []map[string]any {
	t.Helper()
	var all []map[string]any
	var m gc.Model
	for c, err := range m.Collections(src) {
		if err != nil {
			t.Fatal(err)
		}
		var row map[string]any
		if err := json.Unmarshal(jsonl.AppendCollection(nil, src.Info().Start, c), &row); err != nil {
			t.Fatal(err)
		}
		delete(row, "start_ms")
		delete(row, "pause_start_ms")
		for _, p := range row["pauses"].([]any) {
			delete(p.(map[string]any), "start_ms")
		}
		all = append(all, row)
	}
	return all
}

func rowsOf(t *testing.T, file string) []map[string]any {
	t.Helper()
	in, err := open.Files([]string{file}, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return rows(t, in.Source)
}

func reread(data []byte) *nettrace.Reader {
	return nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: gc.Wants})
}

// differing returns the keys in which two rows differ.
func differing(a, b map[string]any) []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		x, _ := json.Marshal(a[k])
		y, _ := json.Marshal(b[k])
		if !bytes.Equal(x, y) {
			keys = append(keys, k)
		}
	}
	return keys
}

// TestNettrace: every trace has the same figures as a .nettrace, loss included, and
// redaction changes only the process's name. A run of all does half of them in each turn.
func TestNettrace(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*.[net]*z*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if !extent.All() {
		files = slices.DeleteFunc(files, func(f string) bool { return !strings.Contains(f, "lttng") && !strings.Contains(f, "etl") })
	}
	for _, file := range extent.Share(files, 2) {
		want := rowsOf(t, file)
		for _, by := range []*convert.Redactor{nil, convert.NewRedactor(convert.RedactOptions{}), convert.NewRedactor(convert.RedactOptions{KeepSystem: true})} {
			got := rows(t, reread(rewritten(t, file, convert.EventOptions{Redact: by})))
			if len(got) != len(want) {
				t.Errorf("%s: %d collections, want %d", file, len(got), len(want))
				continue
			}
			for i := range want {
				keys := differing(want[i], got[i])
				if by != nil {
					keys = slices.DeleteFunc(keys, func(k string) bool { return k == "process" })
				}
				if len(keys) > 0 {
					t.Errorf("%s, redacted %t: GC %v differs in %v", file, by != nil, want[i]["number"], keys)
				}
			}
		}
	}
}

// TestCut: a part of a trace has the collections of its time, and begins and ends there.
// Bytes allocated, and bytes freed by background collections, may differ because they are
// estimated from all collections.
func TestCut(t *testing.T) {
	var part selection.Selection
	if err := part.From.Set("1s"); err != nil {
		t.Fatal(err)
	}
	if err := part.To.Set("2s"); err != nil {
		t.Fatal(err)
	}
	want := rowsOf(t, web)
	cut := reread(rewritten(t, web, convert.EventOptions{Selected: &part}))
	got := rows(t, cut)
	if len(got) == 0 || len(got) >= len(want) {
		t.Fatalf("%d collections of %d", len(got), len(want))
	}
	if length := cut.Info().Last; length < 900*time.Millisecond || length > 1001*time.Millisecond {
		t.Errorf("it is %v long", length)
	}
	whole := make(map[any]map[string]any)
	for _, row := range want {
		whole[row["number"]] = row
	}
	for _, row := range got[1 : len(got)-1] {
		keys := slices.DeleteFunc(differing(whole[row["number"]], row), func(k string) bool {
			return slices.Contains([]string{"freed_bytes", "freed_is", "allocated_bytes", "allocated_is", "generations"}, k)
		})
		if len(keys) > 0 {
			t.Errorf("GC %v differs in %v", row["number"], keys)
		}
		if row["process"] == nil || row["runtime"] == nil {
			t.Errorf("GC %v has process %v of runtime %v", row["number"], row["process"], row["runtime"])
		}
	}
}

// TestCutOnOneSide: a part with only one bound is no more damaged than the whole trace.
func TestCutOnOneSide(t *testing.T) {
	var from, to selection.Selection
	if err := from.From.Set("1s"); err != nil {
		t.Fatal(err)
	}
	if err := to.To.Set("1s"); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]*selection.Selection{"from 1 s": &from, "to 1 s": &to} {
		cut := reread(rewritten(t, web, convert.EventOptions{Selected: part}))
		n := 0
		for ev, err := range cut.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if n++; ev.Time() < 0 {
				t.Errorf("%s: %s is at %v", name, ev.Desc.Name, ev.Time())
			}
		}
		if loss := cut.Loss(); n == 0 || loss.Damaged > 0 || loss.Events > 0 || loss.Truncated {
			t.Errorf("%s: %d events, loss %+v", name, n, *loss)
		}
	}
}

// TestManyThreads: however many threads raise events, only a few are tracked, and no
// event is lost, even if many have the same time.
func TestManyThreads(t *testing.T) {
	const events = 100_000
	src := &threads{n: events, loss: &trace.Loss{}}
	src.info = trace.Info{Format: "test", PID: 7, PointerSize: 8, Start: time.Unix(1, 0), Clock: &trace.Clock{Frequency: 1e9}}
	var out bytes.Buffer
	written, err := convert.Events(src, &out, convert.EventOptions{Selected: new(selection.Selection)})
	if err != nil || written.Events != events || written.Refused != 0 {
		t.Fatalf("%+v, error %v", written, err)
	}
	r := nettrace.NewReader(&out, nettrace.Options{})
	seen := make(map[uint64]bool)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		seen[ev.TID] = true
	}
	if loss := r.Loss(); len(seen) != events || loss.Events != 0 || loss.Damaged != 0 {
		t.Errorf("%d threads, lost %d, damaged %d", len(seen), loss.Events, loss.Damaged)
	}
}

// A threads source has an event of each of n threads, several at a time.
type threads struct {
	n    int
	info trace.Info
	loss *trace.Loss
}

func (s *threads) Info() *trace.Info                            { return &s.info }
func (s *threads) Loss() *trace.Loss                            { return s.loss }
func (s *threads) Counts() iter.Seq2[*trace.Descriptor, uint64] { return nil }
func (s *threads) Events() iter.Seq2[*trace.Event, error] {
	desc := &trace.Descriptor{Provider: "P", ID: 1, Name: "E", Level: 4}
	return func(yield func(*trace.Event, error) bool) {
		for i := range s.n {
			ev := trace.Event{Desc: desc, Ticks: int64(i / 1000), Clock: s.info.Clock, PID: 7, TID: uint64(i + 1), PointerSize: 8}
			if !yield(&ev, nil) {
				return
			}
		}
	}
}
