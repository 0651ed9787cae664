package nettrace_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// TestGolden assembles each text in testdata and compares the reader's events with the
// listing after the text.
func TestGolden(t *testing.T) {
	const mark = "\n-- want --\n"
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, want, _ := strings.Cut(string(file), mark)
			input := tracetest.MustNettrace(t, text)
			got := listing(input)
			if extent.Update() {
				file := strings.TrimRight(text, "\n") + "\n" + mark + got
				if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for n := range input {
				listing(input[:n]) // must end, whatever is missing
			}
		})
	}
}

// listing returns all that a reader yields of a trace, in lines.
func listing(input []byte) string {
	var b strings.Builder
	r := nettrace.NewReader(bytes.NewReader(input), nettrace.Options{Stacks: true})
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
			return b.String()
		}
		listEvent(&b, ev)
	}
	info := r.Info()
	fmt.Fprintf(&b, "trace: %s, %s, %d Hz, pointers of %d, process %d, %d processors\n",
		info.Format, info.Start.Format("2006-01-02T15:04:05.000"), info.Clock.Frequency, info.PointerSize, info.PID, info.CPUs)
	for _, pid := range slices.Sorted(maps.Keys(info.Processes)) {
		fmt.Fprintf(&b, "process: %d %q\n", pid, info.Processes[pid].Name)
	}
	for d, n := range r.Counts() {
		fmt.Fprintf(&b, "kind: %s/%d/%d %q opcode %d, level %d, keywords %#x%s: %d\n",
			d.Provider, d.ID, d.Version, d.Name, d.Opcode, d.Level, d.Keywords, fields(d.Fields), n)
	}
	tracetest.ListLoss(&b, r.Loss())
	return b.String()
}

func listEvent(b *strings.Builder, ev *trace.Event) {
	fmt.Fprintf(b, "%+d: %s/%d/%d thread %d.%d", ev.Ticks, ev.Desc.Provider, ev.Desc.ID, ev.Desc.Version, ev.PID, ev.TID)
	if ev.CPU != trace.UnknownCPU {
		fmt.Fprintf(b, " cpu %d", ev.CPU)
	}
	fmt.Fprintf(b, " [% x]", ev.Payload)
	if s := ev.AppendStack(nil); len(s) > 0 {
		fmt.Fprintf(b, " stack %#x", s)
	}
	if l := ev.Labels; l != nil {
		for _, id := range []struct {
			name string
			id   [16]byte
		}{{"activity", l.ActivityID}, {"related", l.RelatedActivityID}, {"trace", l.TraceID}} {
			if id.id != [16]byte{} {
				fmt.Fprintf(b, " %s %x", id.name, bytes.TrimRight(id.id[:], "\x00"))
			}
		}
		if l.SpanID != 0 {
			fmt.Fprintf(b, " span %d", l.SpanID)
		}
		for _, p := range l.Text {
			fmt.Fprintf(b, " %s=%s", p.Name, p.Value)
		}
	}
	b.WriteByte('\n')
}

// fields writes descriptions as the assembler reads them.
func fields(list []trace.Field) string {
	var b strings.Builder
	for i := range list {
		fmt.Fprintf(&b, " %s:%s", typeName(&list[i]), list[i].Name)
	}
	return b.String()
}

func typeName(f *trace.Field) string {
	s := fmt.Sprint(uint8(f.Type))
	if f.Elem != nil {
		s += "<" + typeName(f.Elem)
		if f.Count > 0 {
			s += fmt.Sprintf("*%d", f.Count)
		}
		s += ">"
	}
	if f.Type == trace.Object {
		s += "{" + strings.TrimSpace(fields(f.Fields)) + "}"
	}
	return s
}
