package ctf_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

const wantMark = "-- want --\n"

// TestReader assembles the traces of testdata, and compares the events with the
// expectations in the files.
func TestReader(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, want, ok := strings.Cut(string(b), wantMark)
			if !ok {
				t.Fatal("nothing is wanted")
			}
			got := dump(assemble(t, text))
			if extent.Update() {
				if err := os.WriteFile(path, []byte(text+wantMark+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func assemble(t testing.TB, text string) fstest.MapFS {
	t.Helper()
	files, err := tracetest.CTF(text)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// dump returns all that a reader returns for a trace.
func dump(files fs.FS) string {
	var b strings.Builder
	r, err := ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint})
	if err != nil {
		return fmt.Sprintf("error %v\n", err)
	}
	var dec clr.Decoder
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
			break
		}
		fmt.Fprintf(&b, "%v %s", ev.Time(), describe(ev))
		if ev.Desc.Fields == nil {
			fmt.Fprintf(&b, " %x", ev.Payload)
		}
		fmt.Fprintf(&b, " %s\n", dec.AppendFields(nil, ev))
	}
	info, loss := r.Info(), r.Loss()
	fmt.Fprintf(&b, "%s from %s to +%v, pointers of %d, %d CPUs", info.Format, info.Start.Format(time.RFC3339Nano), info.Last, info.PointerSize, info.CPUs)
	if info.ProcessesUnknown {
		b.WriteString(", processes unknown")
	}
	b.WriteByte('\n')
	for _, pid := range slices.Sorted(maps.Keys(info.Processes)) {
		fmt.Fprintf(&b, "process %d %q\n", pid, info.Processes[pid].Name)
	}
	fmt.Fprintf(&b, "lost %d %v, cut %t, late %d, at %v\n", loss.Events, loss.Exactness, loss.Truncated, loss.Late, loss.Ranges())
	for _, d := range loss.Damage {
		fmt.Fprintf(&b, "damage %v\n", d.Err)
	}
	return b.String()
}

func describe(ev *trace.Event) string {
	id := func(v uint64) string {
		if v == trace.UnknownID {
			return "?"
		}
		return fmt.Sprint(v)
	}
	d := ev.Desc
	return fmt.Sprintf("%s/%s cpu%d %s %d v%d %s", id(ev.PID), id(ev.TID), ev.CPU, d.Provider, d.ID, d.Version, d.Name)
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		files fstest.MapFS
		want  string
		is    error
	}{
		{fstest.MapFS{}, "ctf: not a trace: no file named metadata", trace.ErrNotTrace},
		{
			fstest.MapFS{"a/metadata": {Data: []byte("name: x\n")}},
			`ctf: a/metadata: metadata at 0x0: not a trace: metadata: 1: malformed: "name" where a block belongs`, nil,
		},
		{
			fstest.MapFS{"metadata": {Data: []byte("trace { major = 1; minor = 9; };")}},
			"ctf: metadata: metadata at 0x0: metadata: 1: version not supported: minor 9 of CTF", trace.ErrUnsupportedVersion,
		},
	} {
		_, err := ctf.Open(c.files, ctf.Options{})
		if err == nil || err.Error() != c.want || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestForms: a trace is the same in every version, byte order, alignment and form of
// header.
func TestForms(t *testing.T) {
	b, err := os.ReadFile("testdata/ctf18_packed.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, want, _ := strings.Cut(string(b), wantMark)
	for _, version := range []string{"1.8", "2"} {
		for _, order := range []string{"le", "be"} {
			for _, align := range []string{"packed", "natural"} {
				for _, header := range []string{"large", "compact", "none"} {
					form := fmt.Sprintf("ctf=%s order=%s align=%s", version, order, align)
					got := dump(assemble(t, strings.NewReplacer(
						"ctf=1.8 order=le align=packed", form+" packets=1000",
						"header=large", "header="+header,
						"i16be", "i16",
					).Replace(text)))
					if got := strings.Replace(got, "CTF "+version, "CTF 1.8", 1); got != want {
						t.Errorf("%s header=%s: got:\n%swant:\n%s", form, header, got, want)
					}
				}
			}
		}
	}
}
