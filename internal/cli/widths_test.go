package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/watch"
)

// widths are the widths of narrow, usual and wide terminals.
var widths = []int{60, 80, 120}

// widthsOf returns the widths at which case n is looked at: in a sample, the narrowest in every
// fourth case; in a run of all, one of them in every second case, so that each has its turn.
func widthsOf(n int) []int {
	sample := widths[:1]
	if n%4 > 0 {
		sample = nil
	}
	var all []int
	if turn := n + extent.Turn(); turn%2 == 0 {
		at := turn / 2 % len(widths)
		all = widths[at : at+1]
	}
	return extent.Pick(sample, all, widths)
}

// wideNames are parts of the names in traces, and names of the same length in UTF-16
// that take other numbers of cells: two a character, two a pair of surrogates, none a
// combining accent.
var wideNames = map[string]string{
	"System.":   "漢字語😀e\u0301",
	"gcload":    "負荷😀漢字",
	"Generic":   "ジェネリック型",
	"Allocate":  "割り当て関数e\u0301",
	"Microsoft": "マイクロソフト会社",
}

func inUTF16(s string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}

// widened writes a trace with wide names in place of its own, and reports whether there
// are any.
func widened(t *testing.T, path string) (string, bool) {
	t.Helper()
	trace := tracetest.Gunzip(t, path)
	was := bytes.Clone(trace)
	for from, to := range wideNames {
		a, b := inUTF16(from), inUTF16(to)
		if len(a) != len(b) {
			t.Fatalf("%s and %s differ in length", from, to)
		}
		if from != "Microsoft" || !bytes.Contains(trace, inUTF16("Microsoft-Windows")) {
			trace = bytes.ReplaceAll(trace, a, b)
		}
	}
	wide := filepath.Join(t.TempDir(), "wide.nettrace")
	if err := os.WriteFile(wide, trace, 0o600); err != nil {
		t.Fatal(err)
	}
	return wide, !bytes.Equal(trace, was)
}

// mustFit checks that no line of a table or of prose is wider than a terminal.
// Commands are not broken, so that they can be copied.
func mustFit(t *testing.T, what, out string, width int) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "$ ") || strings.HasPrefix(strings.TrimSpace(line), "gctrail ") {
			continue
		}
		if n := text.Width(line); n > width {
			t.Errorf("%s at %d: %d cells: %s", what, width, n, line)
		}
	}
}

// TestWidths checks that no line of the commands that list what is in a trace is wider
// than the terminal, with names of wide and combining characters.
func TestWidths(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../testdata/*.nettrace.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal("no traces", err)
	}
	var optional []string // traces with events of the private provider
	if extent.All() {
		optional, _ = filepath.Glob("../../../shared/traces/eventpipe/net10-wks-private.nettrace.gz")
		more, _ := filepath.Glob("../../../shared/traces/eventpipe/real-aspnet-datas.nettrace.gz")
		optional = append(optional, more...)
		paths = append(paths, optional...)
	}
	commands := [][]string{
		{"report"},
		{"gcs"},
		{"gcs", "--per-heap"},
		{"gcs", "--columns", "number,process,runtime,reason,pause_ms,heap_after_bytes"},
		{"allocs"},
		{"allocs", "--by", "type,stack"},
		{"allocs", "--by", "method"},
		{"allocs", "--by", "heap"},
		{"handles"},
		{"handles", "--by", "kind,stack"},
		{"pins"},
		{"heap"},
		{"heap", "--per-heap"},
		{"objects"},
		{"objects", "--by", "module"},
		{"objects", "--by", "generation"},
		{"objects", "--by", "root"},
		{"objects", "--by", "dominator"},
		{"objects", "--tree"},
		{"objects", "--root", "static"},
		{"objects", "--free", "gaps"},
		{"joins"},
		{"finalizers"},
		{"requests"},
		{"requests", "--by", "route"},
		{"phases"},
		{"pauses"},
	}
	for name := range commandsWith("sort") {
		live := name == "top" || strings.HasPrefix(name, "fleet ")
		if !live && !slices.ContainsFunc(commands, func(args []string) bool { return args[0] == name }) {
			t.Errorf("the width of %s is not tested", name)
		}
	}
	named := []string{"allocs", "allocs --by method", "pins", "finalizers"}
	rows, wide := make(map[string]int), make(map[string]int)
	for i, path := range paths {
		trace, has := widened(t, path)
		if !has && !extent.All() && !strings.HasSuffix(path, "-requests.nettrace.gz") { // the only one with requests
			continue
		}
		for j, args := range commands {
			what := strings.Join(args, " ")
			due := widthsOf(i + j)
			private := what == "joins" || what == "phases"
			switch {
			case len(due) > 0:
			case private && slices.Contains(optional, path),
				!private && rows[what] == 0,
				slices.Contains(named, what) && wide[what] == 0: // until there is something to look at
				due = widths[:1]
			}
			for _, width := range due {
				out, talk, code := on(t, width, append(args, trace)...)
				if code != exitDone {
					t.Fatalf("%s of %s: exit code %d: %s", what, path, code, talk)
				}
				mustFit(t, what+" of "+filepath.Base(path), out, width)
				rows[what] += strings.Count(out, "\n")
				wide[what] += strings.Count(out, "漢") + strings.Count(out, "負")
			}
		}
	}
	for _, args := range commands {
		what := strings.Join(args, " ")
		t.Logf("%s: %d lines, %d wide names", what, rows[what], wide[what])
		if private := what == "joins" || what == "phases"; rows[what] == 0 && !(private && len(optional) < 2) {
			t.Errorf("%s shows nothing of any trace", what)
		}
	}
	for _, what := range named {
		if wide[what] == 0 {
			t.Errorf("%s shows no wide name", what)
		}
	}
}

// TestProcessWidths checks the same of ps and of the lines of top --plain.
func TestProcessWidths(t *testing.T) {
	for _, name := range []string{"web", "日本語のとても長い名前のプログラムその一", "👩‍💻😀🇯🇵❤️1️⃣のサービス", strings.Repeat("e\u0301", 50), strings.Repeat("x", 200)} {
		process := &diag.Process{PID: 4711, Name: name, Container: name, Info: &diag.Info{RuntimeVersion: "10.0.0-preview.3.12345.6", Arch: "x64"}, GC: diag.Flavour{Server: diag.Off, Concurrent: diag.On}}
		failing := *process
		failing.Err = errors.New("the runtime did not answer within a second, " + name)
		for _, width := range widths {
			var out bytes.Buffer
			std := &stdio{out: &out, err: text.NewPrinter(io.Discard), outTerm: text.Terminal{Is: true, Width: width}}
			for _, all := range [][]*diag.Process{{process}, {process, &failing}} {
				o, err := std.create("-", nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := o.end(writeProcessTable(std, o, all)); err != nil {
					t.Fatal(err)
				}
			}
			if n := strings.Count(out.String(), "\n"); n != 5 {
				t.Errorf("ps: %d lines:\n%s", n, out.String())
			}
			mustFit(t, "ps", out.String(), width)

			out.Reset()
			log := newCollectionLog(std, func() {})
			log.failed(log.table.Flush())
			for _, shown := range []*diag.Process{{PID: 1, Name: "web"}, process} {
				log.news(&watch.News{Process: shown, Collection: &watch.Collection{
					Process: shown, Ended: time.Unix(1_700_000_000, 0),
					Collection: &gc.Collection{Number: 123, Generation: gc.Some(2), HeapAfter: gc.Some[int64](987_654_321)},
				}}, true)
			}
			mustFit(t, "top --plain", out.String(), width)
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if len(lines) != 3 {
				t.Fatalf("top --plain: %q", lines)
			}
			for _, line := range lines[1:] {
				if n, want := text.Width(line), text.Width(lines[0]); n != want {
					t.Errorf("top --plain at %d: %d cells under a heading of %d:\n%s", width, n, want, out.String())
				}
			}
		}
	}
}
