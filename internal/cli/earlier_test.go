//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// elsewhere are the commands with an output of another kind, and why they are not here.
var elsewhere = map[string]string{
	"gctrail collect": "TestEarlierRecording kills it",
	"gctrail dump":    "it writes as collect does",
	"gctrail run":     "it numbers its files, and replaces none",
	"gctrail try":     "it writes as diff does, after it has run a program",
}

// ways are the arguments of commands that take others than a trace. IN is a trace, HEAP one
// with heap snapshots, STORE the store of a fleet, SERVER one of ClickHouse, and OUT the output.
var ways = map[string]string{
	"gctrail objects":       "HEAP",
	"gctrail diff":          "IN -- IN",
	"gctrail trend":         "IN IN IN",
	"gctrail what-if":       "--set GCgen0size=64M IN",
	"gctrail fleet top":     "--store STORE --from all",
	"gctrail fleet gcs":     "--store STORE --from all",
	"gctrail fleet oom":     "--store STORE --from all",
	"gctrail fleet compare": "--store STORE --from all service_version=1.0 service_version=1.1",
	"gctrail fleet query":   "--store SERVER SELECT",
}

// more are the ways to write that are no --format of -o.
var more = []string{
	"report --chart OUT.svg IN", "report --chart OUT.png IN", "report --explain pause -o OUT",
	"gcs --per-heap --format csv -o OUT IN", "gcs --metrics -o OUT IN", "gcs --columns perfview --format csv -o OUT IN",
	"events --limit 100 -o OUT IN", "check --init OUT IN", "convert --redact --to nettrace -o OUT IN", "man OUT/",
}

// writers returns a command line for each way in which a command writes a file.
func writers() []string {
	lines := slices.Clone(more)
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			add(c)
		}
		path := cmd.CommandPath()
		if out := cmd.Flags().Lookup("output"); out == nil || elsewhere[path] != "" || path == "gctrail convert" {
			return
		}
		args := ways[path]
		if args == "" {
			args = "IN"
		}
		line := strings.TrimPrefix(path, "gctrail ") + " -o OUT "
		for _, format := range formatsOf(cmd.Flags()) {
			lines = append(lines, line+"--format "+format+" "+args)
		}
	}
	add(newRootCmd(&stdio{out: io.Discard, err: text.NewPrinter(io.Discard)}))
	for _, name := range convert.Names() {
		in := "IN"
		if name == "heapsnapshot" || name == "gcdump" {
			in = "HEAP"
		}
		lines = append(lines, "convert --to "+name+" -o OUT "+in, "convert --to "+name+" -o OUT/ "+in)
	}
	for _, format := range comparison.CheckFormats() {
		lines = append(lines, "check --budget BUDGET --out "+format+"=OUT IN")
	}
	return lines
}

func formatsOf(flags *pflag.FlagSet) []string {
	if format, ok := flags.Lookup("format").Value.(*choice); ok {
		return format.of
	}
	return nil
}

// A saver runs a command line that writes files.
type saver struct {
	program string
	line    string
	replace map[string]string // words of line
	unread  map[string]string // the same, of inputs that cannot be read
}

// TestEarlierOutput: whatever happens to a command, each of its output files has its
// earlier content or all of its new content, and the next run leaves nothing beside them.
func TestEarlierOutput(t *testing.T) {
	kills := extent.Pick(1, 2, 200)
	dir := t.TempDir()
	in, heap, bad, limits := filepath.Join(dir, "in.nettrace"), filepath.Join(dir, "heap.nettrace"), filepath.Join(dir, "bad.nettrace"), filepath.Join(dir, "budget.yaml")
	err := errors.Join(
		os.WriteFile(in, tracetest.Gunzip(t, "../../testdata/net10-wks-stacks.nettrace.gz"), 0o600),
		os.WriteFile(heap, tracetest.Gunzip(t, "../../testdata/net10-wks-leak.nettrace.gz"), 0o600),
		os.WriteFile(bad, []byte("no trace at all"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, said, code := on(t, 0, "check", "--init", limits, in); code != exitDone {
		t.Fatal(said)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"meta":[{"name":"reason"}],"data":[["AllocSmall"],["Induced"]]}`)
	}))
	t.Cleanup(server.Close)
	s := saver{
		program: executable(t),
		replace: map[string]string{"IN": in, "HEAP": heap, "BUDGET": limits, "STORE": fleetFolder(t), "SERVER": server.URL},
		unread:  map[string]string{"IN": bad, "HEAP": bad, "BUDGET": limits, "STORE": bad, "SERVER": "http://127.0.0.1:1"},
	}
	each := extent.Pick(8, 1, 1)
	for i, line := range writers() {
		if i%each > 0 {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			s := s
			s.line = line
			s.survive(t, kills)
		})
	}
}

// survive tries a command line.
func (s *saver) survive(t *testing.T, kills int) {
	dir := t.TempDir()
	var whole wholes
	var took time.Duration
	for range 2 {
		began := time.Now()
		if code, said := s.run(t, dir, s.replace, meanwhile{}); code != exitDone {
			t.Fatalf("exit code %d: %s", code, said)
		}
		took = time.Since(began)
		whole = whole.with(contents(t, dir))
	}
	if len(whole) == 0 {
		t.Fatal("no file was written")
	}
	earlier := make(map[string]string)
	for name := range whole {
		earlier[name] = strings.Repeat("earlier "+name+"\n", 100)
	}
	dir = t.TempDir()
	if strings.Contains(s.line, "IN") || strings.Contains(s.line, "STORE") || strings.Contains(s.line, "SERVER") {
		fill(t, dir, earlier)
		if code, said := s.run(t, dir, s.unread, meanwhile{}); code == exitDone {
			t.Errorf("an unreadable input: exit code 0: %s", said)
		}
		if after := contents(t, dir); !maps.Equal(after, earlier) {
			t.Errorf("an unreadable input: %s", states(after, earlier, whole))
		}
	}
	s.surviveFull(t, earlier, whole)
	for range kills {
		fill(t, dir, earlier)
		at := time.Duration(rand.Int64N(int64(took) + 1))
		_, _ = s.run(t, dir, s.replace, meanwhile{running: func(c *exec.Cmd) { killAfter(c, at) }})
		after := contents(t, dir)
		maps.DeleteFunc(after, func(name, _ string) bool { return strings.HasPrefix(filepath.Base(name), ".") })
		if !whole.or(earlier, after) {
			t.Errorf("killed after %v: %s", at, states(after, earlier, whole))
		}
	}
	if code, said := s.run(t, dir, s.replace, meanwhile{}); code != exitDone {
		t.Errorf("the next run: exit code %d: %s", code, said)
	}
	if after := contents(t, dir); !whole.or(nil, after) {
		t.Errorf("the next run: %s", states(after, nil, whole))
	}
}

// killAfter kills a program after a time, unless it has ended by then.
func killAfter(c *exec.Cmd, d time.Duration) {
	time.AfterFunc(d, func() { _ = c.Process.Kill() })
}

// surviveFull tries a command line where there is no room: on a disk that is full, and
// with a limit for files.
func (s *saver) surviveFull(t *testing.T, earlier map[string]string, whole wholes) {
	longest := 0
	for _, w := range whole {
		longest = max(longest, len(w[0]))
	}
	if longest == 0 {
		return
	}
	limited := t.TempDir()
	fill(t, limited, earlier)
	size := uint64(longest) / 2
	code, said := s.run(t, limited, s.replace, meanwhile{starting: func(c *exec.Cmd) {
		if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size}, nil); err != nil {
			t.Error(err)
		}
	}})
	if after := contents(t, limited); code == exitDone || !whole.or(earlier, after) {
		t.Errorf("with a limit of %d bytes: exit code %d: %s: %s", size, code, states(after, earlier, whole), said)
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Log("no disk can be mounted: ", err)
		return
	}
	defer func() { _ = unix.Unmount(disk, unix.MNT_DETACH) }()
	fill(t, disk, earlier)
	padding := pad(t, disk)
	code, said = s.run(t, disk, s.replace, meanwhile{})
	if err := os.Remove(padding); err != nil {
		t.Error(err)
	}
	if after := contents(t, disk); code == exitDone || !whole.or(earlier, after) {
		t.Errorf("on a full disk: exit code %d: %s: %s", code, states(after, earlier, whole), said)
	}
}

// A meanwhile acts on a process before it starts, and while it runs; nil for nothing.
type meanwhile struct{ starting, running func(c *exec.Cmd) }

// run runs the command line with its output in a folder.
func (s *saver) run(t *testing.T, dir string, replace map[string]string, do meanwhile) (code int, said string) {
	t.Helper()
	var args []string
	for _, word := range strings.Fields(s.line) {
		if to, ok := replace[word]; ok {
			word = to
		}
		args = append(args, strings.Replace(word, "OUT", filepath.Join(dir, "out"), 1))
	}
	// The shell waits for a line, so that limits are there from the beginning.
	c := exec.Command("sh", append([]string{"-c", `read go; exec "$0" "$@"`, s.program}, args...)...)
	c.Env = append(os.Environ(), "GCTRAIL_TEST_MAIN=1")
	var out bytes.Buffer
	c.Stderr = &out
	start, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if do.starting != nil {
		do.starting(c)
	}
	if _, err := io.WriteString(start, "\n"); err != nil {
		t.Error(err)
	}
	if do.running != nil {
		do.running(c)
	}
	_ = c.Wait() // only its code counts
	return c.ProcessState.ExitCode(), out.String()
}

// fill makes the files of a folder, and removes all others.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name := range contents(t, dir) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// contents returns the content of each file below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wholes are the contents that each file had after different runs.
type wholes map[string][]string

// with adds the contents of a run.
func (w wholes) with(files map[string]string) wholes {
	if w == nil {
		w = make(wholes)
	}
	for name, text := range files {
		w[name] = append(w[name], text)
	}
	return w
}

// maxEnd bounds the compared ends of contents: a page's, or a trace's.
const maxEnd = 8

// has reports whether a file is whole. Where runs differ, as by random keys, that is so
// if it ends as they do and is nearly as long.
func (w wholes) has(name, text string) bool {
	if slices.Contains(w[name], text) {
		return true
	}
	first, last := w[name][0], w[name][len(w[name])-1]
	if first == last {
		return false
	}
	end := 0
	for end < min(len(first), len(last), maxEnd) && first[len(first)-1-end] == last[len(last)-1-end] {
		end++
	}
	return end > 0 && strings.HasSuffix(text, first[len(first)-end:]) && len(text) > len(first)*9/10
}

// or reports whether files are all there, each whole or with its earlier content.
func (w wholes) or(earlier, files map[string]string) bool {
	for name, text := range files {
		before, there := earlier[name]
		if len(w[name]) == 0 || !w.has(name, text) && (!there || text != before) {
			return false
		}
	}
	return len(files) == len(w)
}

// states describes files.
func states(files, earlier map[string]string, whole wholes) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		is := fmt.Sprintf("%d bytes", len(files[name]))
		if text, ok := earlier[name]; ok && text == files[name] {
			is = "earlier"
		} else if len(whole[name]) > 0 && whole.has(name, files[name]) {
			is = "whole"
		}
		words = append(words, name+": "+is)
	}
	return strings.Join(words, ", ")
}
