package collect_test

import (
	"bytes"
	"cmp"
	"io"
	"testing"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// contents returns the collections of a trace as JSON, its process and its
// loss.
func contents(t *testing.T, data []byte) (lines []string, p *gc.Process, loss *trace.Loss) {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Stacks: true})
	var m gc.Model
	for c, err := range m.Collections(r) {
		if err != nil {
			t.Fatal(err)
		}
		unnamed := *c
		unnamed.Process = &gc.Process{PID: c.Process.PID}
		lines = append(lines, string(jsonl.AppendCollection(nil, r.Info().Start, &unnamed)))
	}
	if len(m.Processes()) != 1 {
		t.Fatalf("%d processes", len(m.Processes()))
	}
	return lines, m.Processes()[0], r.Loss()
}

// objects returns the whole objects of a received part of a trace, concatenated.
func objects(t *testing.T, received []byte) []byte {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(received), nettrace.Options{Want: func(*trace.Descriptor) bool { return false }})
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	size, end := r.Whole()
	return append(bytes.Clone(received[:size]), end...)
}

// TestSnapshot: after any part of a trace, the snapshot is complete, names the process
// and the runtime, and has the same collections.
func TestSnapshot(t *testing.T) {
	on, off := true, false
	for name, file := range map[string]string{
		"killed":         "net10-killed-web",
		"whole":          "net10-wks-web-collect",
		".NET 9, server": "net9-srv-datas-web-collect",
		"stacks":         "net10-wks-stacks",
	} {
		t.Run(name, func(t *testing.T) {
			whole := tracetest.Gunzip(t, "../../testdata/"+file+".nettrace.gz")
			all, _, _ := contents(t, whole)
			for _, size := range []int{len(whole), len(whole) * 9 / 10, len(whole)*9/10 - 1, len(whole) / 2, len(whole) / 3} {
				received := objects(t, whole[:size])
				var out bytes.Buffer
				p := collect.Description{CommandLine: "/srv/api --port 80", OS: "Linux", Arch: "x64", Runtime: "10.0.12", Server: &on, Concurrent: &off}
				if err := collect.WriteSnapshot(&out, received, &p); err != nil {
					t.Fatal(err)
				}
				_, was, _ := contents(t, received)
				got, is, loss := contents(t, out.Bytes())
				if loss.Truncated || loss.Damaged > 0 || loss.Events > 0 {
					t.Errorf("%d bytes: %+v", size, loss)
				}
				if len(got) < 5 {
					t.Errorf("%d bytes: %d collections", size, len(got))
				}
				// The last collections may lack events that were raised before, but
				// received later.
				const unsettled = 3
				for i := range max(0, len(got)-unsettled) {
					if got[i] != all[i] {
						t.Fatalf("%d bytes: collection %d of %d:\n%s\nwant\n%s", size, i, len(got), got[i], all[i])
					}
				}
				if size == len(whole) && len(got) != len(all) {
					t.Errorf("%d collections, want %d", len(got), len(all))
				}
				name, runtime := cmp.Or(was.Name, "api"), cmp.Or(was.Runtime, ".NET 10.0.12")
				if is.Name != name || is.Runtime != runtime || !is.Server.Known() {
					t.Errorf("%d bytes: %q, %q, server %v, want %q, %q", size, is.Name, is.Runtime, is.Server, name, runtime)
				}
			}
		})
	}
}

// TestSnapshotV6 takes the other format.
func TestSnapshotV6(t *testing.T) {
	in := nettrace.NewReader(bytes.NewReader(tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")), nettrace.Options{})
	var v6 bytes.Buffer
	var w *nettrace.Writer
	for ev, err := range in.Events() {
		if err == nil && w == nil {
			w, err = nettrace.NewWriter(&v6, nettrace.WriterOptions{Version: 6, Start: in.Info().Start, Frequency: in.Info().Clock.Frequency, PID: in.Info().PID})
		}
		if err == nil {
			err = w.Write(ev.TID, ev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	on := true
	var out bytes.Buffer
	if err := collect.WriteSnapshot(&out, objects(t, v6.Bytes()), &collect.Description{CommandLine: "api", Runtime: "10.0.12", Server: &on}); err != nil {
		t.Fatal(err)
	}
	got, is, loss := contents(t, out.Bytes())
	want, _, was := contents(t, v6.Bytes())
	if !was.Truncated || loss.Truncated || len(got) != len(want) || is.Name != "api" || is.Runtime != ".NET 10.0.12" {
		t.Errorf("%d collections of %q, %q, want %d; %+v, %+v", len(got), is.Name, is.Runtime, len(want), was, loss)
	}
}

// TestSnapshotTellsLoss: events missing from the received part are missing from the
// snapshot, too.
func TestSnapshotTellsLoss(t *testing.T) {
	received := tracetest.Gunzip(t, "../../testdata/net10-lossy-handles.nettrace.gz")
	var out bytes.Buffer
	if err := collect.WriteSnapshot(&out, received, &collect.Description{CommandLine: "api"}); err != nil {
		t.Fatal(err)
	}
	_, _, was := contents(t, received)
	_, _, is := contents(t, out.Bytes())
	if was.Events == 0 || is.Events != was.Events {
		t.Errorf("%d events lost, want %d", is.Events, was.Events)
	}
}

// TestSnapshotOfDamage: damage is not made to look whole.
func TestSnapshotOfDamage(t *testing.T) {
	received := tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")
	clear(received[len(received)/2 : len(received)/2+64])
	var out bytes.Buffer
	if err := collect.WriteSnapshot(&out, received, &collect.Description{CommandLine: "api"}); err != nil {
		t.Fatal(err)
	}
	if _, _, loss := contents(t, out.Bytes()); loss.Damaged == 0 {
		t.Error("the snapshot of a damaged trace has no damage")
	}
	if err := collect.WriteSnapshot(io.Discard, []byte("no trace"), &collect.Description{}); err == nil {
		t.Error("no error of what is no trace")
	}
}
