package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

// TestColumnsFit checks that lists leave out columns rather than cut them, from 60
// cells on.
func TestColumnsFit(t *testing.T) {
	for width := 60; width <= 210; width++ {
		for _, withProcess := range []bool{false, true} {
			total := -1
			for _, f := range factsFor(width, withProcess) {
				total += f.width + 1
			}
			if total > width {
				t.Errorf("collections need %d cells of %d", total, width)
			}
		}
		for _, all := range [][]processColumn{figureColumns, columnsOf(nil)} {
			const first = markWidth + idWidth + 1
			columns, name := fitting(slices.Clone(all), width-first, shortestName)
			total := first
			for _, c := range columns {
				total += c.width + 1
			}
			if total+name != width || name < shortestName {
				t.Errorf("processes need %d cells of %d, and leave %d for names", total, width, name)
			}
		}
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const mb = 1_000_000

// example returns a machine with a busy process, an ended one, an idle one and one that
// cannot be watched.
func example() *watch.Snapshot {
	busy := process(1, 4711, "web-api", watch.Watched)
	busy.Container = "0123456789abcdef"
	busy.Memory.RSS, busy.Memory.Used, busy.Memory.Limit = gc.Some[int64](412*mb), gc.Some[int64](430*mb), gc.Some[int64](512*mb)
	busy.Verdict = "Pauses took 7.2 % of the time (budget: 5 %); too many young objects survive."
	busy.Findings = []findings.Finding{
		{
			ID: "R02", Title: "pauses take much of the time", Severity: findings.Problem, Confidence: findings.High,
			Description: "GC pauses took 4.32 s: 7.2 % of 60.0 s (budget: 5 %), 18.0 ms on average over 240 GCs.",
			Advice:      []string{"The length of pauses comes from what survives: shorten the life of objects, or let fewer live."},
		},
		{ID: "R32", Title: "many young objects survive", Severity: findings.Warning, Confidence: findings.Medium, Description: "28.3 % of what was new survived its first collection."},
	}
	for i := range 100 {
		collected(busy, i)
	}
	sum(busy)

	ended := process(2, 4712, "batch", watch.Ended)
	ended.Problem, ended.Until = live.ErrTruncated, noon.Add(-75*time.Second)
	ended.Verdict = "Pauses took 0.4 % of the time (budget: 5 %), the longest 5.00 ms (budget: 100 ms): the GC is innocent."
	ended.Whole = true
	collected(ended, 3)
	sum(ended)

	idle := process(3, 4713, "a-program-with-a-rather-long-name", watch.Watched)
	refused := process(4, 4714, "secret", watch.Found)
	refused.Problem, refused.Info = diag.ErrNoSocket, nil
	return &watch.Snapshot{Now: noon, Looked: true, Processes: []*watch.Process{refused, busy, ended, idle}}
}

func process(id, pid int, name string, state watch.State) *watch.Process {
	p := &watch.Process{
		ID: id, State: state, Attached: noon.Add(-time.Minute), Until: noon, History: make([]watch.Second, watch.Seconds),
		Process: &diag.Process{
			PID: pid, Name: name, Started: noon.Add(-time.Hour), GC: diag.Flavour{Server: diag.Off},
			Info: &diag.Info{RuntimeVersion: "10.0.12", Arch: "x64"},
		},
	}
	if state == watch.Found {
		p.Attached = time.Time{}
	}
	return p
}

// collected adds the ith collection.
func collected(p *watch.Process, i int) {
	generation := []int{0, 0, 1, 0, 2}[i%5]
	pause := time.Duration(3+(i*7)%40) * time.Millisecond
	before, after := int64(120+i%17), int64(80+i%13)
	end := p.Until.Add(-time.Duration(99-i) * 600 * time.Millisecond)
	c := &gc.Collection{
		Number: uint32(1000 + i), Generation: gc.Some(generation), Kind: gc.Blocking, Reason: gc.Some(clr.GCReasonAllocSmall),
		Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Duration: pause, Suspend: gc.Some(pause / 10)}}, AllPauses: true,
		HeapBefore: gc.Some(before * mb), HeapAfter: gc.Some(after * mb), Promoted: gc.Some[int64](11 * mb), Freed: gc.Some[int64](38 * mb),
		CommittedAfter: gc.Some[int64](200 * mb), MemoryLoad: gc.Some(43), Complete: true,
	}
	for g, name := range gc.GenerationNames() {
		c.Generations = append(c.Generations, gc.Generation{Name: name, After: gc.Some(after * mb * int64(g) / 10)})
	}
	p.Recent = append(p.Recent, &watch.Collection{Collection: c, Process: p.Process, Began: end.Add(-pause), Ended: end})
	p.Last = p.Recent[len(p.Recent)-1]
	p.Sized = p.Last
	s := &p.History[watch.Seconds-1-int(p.Until.Sub(end)/time.Second)]
	s.Collections++
	s.Pause += pause
	s.Longest = max(s.Longest, pause)
	s.Before, s.After = c.HeapBefore, c.HeapAfter
}

func sum(p *watch.Process) {
	p.Collections = len(p.Recent)
	p.Heap.After, p.Heap.Committed = p.Last.HeapAfter, p.Last.CommittedAfter
	p.ByGeneration = [3]int{60, 20, 20}
	p.Paused, p.PausedInAll, p.Rate, p.Allocating = gc.Some(6.54), gc.Some(7.2), 1.7, stats.Rate{PerSecond: 65.2e6, Certainty: gc.Estimate}
	p.P99, p.Longest = gc.Some(41*time.Millisecond), gc.Some(42*time.Millisecond)
}

// shown returns a model of the example at a size.
func shown(t *testing.T, width, height int, change ...func(*Options)) *model {
	t.Helper()
	snap := example()
	opts := Options{
		Snapshot: func() *watch.Snapshot { return snap },
		Save:     func(p *watch.Process) (string, int, error) { return p.Name + ".nettrace", 12_345, nil },
		DumpCost: func(*watch.Process) string { return "pauses it up to 2 x 1.26 s, up to 80.6 MB" },
		Dump: func(p *watch.Process) (string, string, error) {
			return p.Name + ".nettrace", "GC 7: 1,000 objects, 50.0 kB", nil
		},
		Reason:  error.Error,
		Remedy:  diag.Remedy,
		Unicode: true,
	}
	for _, c := range change {
		c(&opts)
	}
	m := newModel(opts)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

// press presses keys, and executes the resulting commands; it reports whether to quit.
func press(t *testing.T, m *model, keys ...string) (quit bool) {
	t.Helper()
	special := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"tab": {Code: tea.KeyTab}, "space": {Code: tea.KeySpace, Text: " "}, "backspace": {Code: tea.KeyBackspace},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "pgdown": {Code: tea.KeyPgDown},
	}
	for _, key := range keys {
		msg, ok := special[key]
		if !ok {
			msg = tea.KeyPressMsg{Code: rune(key[0]), Text: key}
		}
		_, cmd := m.Update(msg)
		if cmd == nil {
			continue
		}
		switch result := cmd().(type) {
		case tea.QuitMsg:
			return true
		default:
			m.Update(result)
		}
	}
	return false
}

// TestScreens compares screens with testdata.
func TestScreens(t *testing.T) {
	plain := func(o *Options) { o.Unicode = false }
	for _, test := range []struct {
		name   string
		keys   []string
		change []func(*Options)
	}{
		{name: "list"},
		{name: "refused", keys: []string{"down", "down", "down", "down"}},
		{name: "process", keys: []string{"enter"}},
		{name: "process-ascii", keys: []string{"enter"}, change: []func(*Options){plain}},
		{name: "findings", keys: []string{"enter", "f"}},
		{name: "help", keys: []string{"?"}},
	} {
		for _, size := range [][2]int{{80, 24}, {200, 50}} {
			name := fmt.Sprintf("%s-%dx%d", test.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := shown(t, size[0], size[1], test.change...)
				press(t, m, test.keys...)
				lines := strings.Split(m.View().Content, "\n")
				for i := range lines {
					lines[i] = strings.TrimRight(lines[i], " ")
				}
				compare(t, filepath.Join("testdata", name+".txt"), strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if extent.Update() {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestEverySize: nothing is wider or higher than the terminal, with colours or
// without.
func TestEverySize(t *testing.T) {
	for width := 0; width <= 210; width += 1 + width/4 {
		for height := 0; height <= 60; height += 1 + height/2 {
			for _, keys := range [][]string{nil, {"enter"}, {"enter", "f"}, {"?"}, {"s"}, {"/", "b"}} {
				m := shown(t, width, height, func(o *Options) { o.Colour = width%2 == 0 })
				press(t, m, keys...)
				lines := m.draw()
				if len(lines) > height {
					t.Fatalf("%d×%d %v: %d lines", width, height, keys, len(lines))
				}
				for _, line := range lines {
					if n := lipgloss.Width(line); n > width {
						t.Fatalf("%d×%d %v: %d cells: %q", width, height, keys, n, line)
					}
				}
			}
		}
	}
}

// names returns the names of the processes in the order of the screen.
func names(m *model) []string {
	var names []string
	for _, p := range m.rows() {
		names = append(names, p.Name)
	}
	return names
}

func TestKeys(t *testing.T) {
	const busy, idle, ended, refused = "web-api", "a-program-with-a-rather-long-name", "batch", "secret"
	m := shown(t, 80, 24)
	if got := names(m); !slices.Equal(got, []string{busy, idle, ended, refused}) {
		t.Errorf("%v", got)
	}
	selects := func(keys, want string) {
		t.Helper()
		if press(t, m, strings.Fields(keys)...) || m.current() == nil || m.current().Name != want {
			t.Errorf("%s: %v is selected, want %s", keys, m.current().Name, want)
		}
	}
	selects("down", idle)
	selects("G", refused)
	selects("down", refused)
	selects("g", busy)
	selects("up", busy)
	selects("enter tab", idle)
	selects("shift+tab shift+tab", refused)
	selects("tab", busy)
	if m.screen != onProcess {
		t.Error("not in depth")
	}
	press(t, m, "down", "down", "up", "down")
	if m.back != 2 {
		t.Errorf("%d back", m.back)
	}
	press(t, m, "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
	if want := len(m.current().Recent) - 1; m.back != want {
		t.Errorf("%d back, want %d", m.back, want)
	}
	selects("esc", busy)

	press(t, m, "<")
	if got := names(m); got[0] != busy || sortings[m.order].name != "pid" {
		t.Errorf("by %s: %v", sortings[m.order].name, got)
	}
	press(t, m, "<", "r")
	if got := names(m); got[0] != busy || got[1] != idle {
		t.Errorf("by %s, reversed: %v", sortings[m.order].name, got)
	}
	selects("/ B A enter", ended)
	selects("/ T backspace enter", ended)
	if got := names(m); len(got) != 1 {
		t.Errorf("filtered: %v", got)
	}
	press(t, m, "esc")
	if got := names(m); len(got) != 4 {
		t.Errorf("not filtered: %v", got)
	}
	press(t, m, "/", "n", "o", "n", "e", "?")
	if m.current() != nil || !strings.Contains(m.View().Content, "filter: none?_") {
		t.Errorf("nothing matches: %s", m.View().Content)
	}
	press(t, m, "enter", "s", "enter", "down")
	if m.screen != onList {
		t.Error("nothing was opened")
	}
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"esc", "?", "q"}, {"/", "ctrl+c"}, {"enter", "q"}} {
		if m := shown(t, 80, 24); !press(t, m, keys...) {
			t.Errorf("%v does not quit", keys)
		}
	}
}

// TestFindings: all findings can be read on every screen, and the collections stay in
// place meanwhile.
func TestFindings(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			m := shown(t, size[0], size[1])
			busy := m.snap.Processes[1]
			for i := range 30 {
				title := fmt.Sprintf("finding-%d-", i)
				busy.Findings = append(busy.Findings, findings.Finding{Title: title, Severity: findings.Note, Advice: []string{"a", "b"}})
			}
			press(t, m, "enter", "down", "f")
			read := ""
			for range 100 {
				read += m.View().Content
				press(t, m, "down")
			}
			for i := range busy.Findings {
				if title := busy.Findings[i].Title; !strings.Contains(read, strings.Fields(title)[0]) {
					t.Errorf("%q is not shown", title)
				}
			}
			end := m.View().Content
			if strings.Contains(end, "down shows more") || !strings.Contains(end, "finding-29-") {
				t.Errorf("at the end:\n%s", end)
			}
			press(t, m, "up")
			if m.View().Content == end {
				t.Error("up does not scroll at once")
			}
			if m.back != 1 {
				t.Errorf("the collections are %d back", m.back)
			}
		})
	}
}

// TestFreedMarks: freed bytes that are a lower bound are marked as such.
func TestFreedMarks(t *testing.T) {
	m := shown(t, 200, 50)
	m.snap.Processes[1].Last.FreedQuality = gc.LowerBound
	if shown := m.View().Content; strings.Count(shown, " >38.0 ") != 1 {
		t.Errorf("%s", shown)
	}
}

// TestSave: the trace of the selected process is saved, and the message has its path.
func TestSave(t *testing.T) {
	m := shown(t, 80, 24)
	press(t, m, "down", "down", "s")
	if last := m.draw()[23]; last != "saved 12.3 kB; next: gctrail batch.nettrace" {
		t.Errorf("%q", last)
	}
	m.snap.Processes[2].Whole = false
	press(t, m, "s")
	if last := m.draw()[23]; last != "saved 12.3 kB, without its beginning; next: gctrail batch.nettrace" {
		t.Errorf("%q", last)
	}
	m = shown(t, 80, 24, func(o *Options) {
		o.Save = func(*watch.Process) (string, int, error) {
			return "", 0, errors.Join(errors.New("the disk is full"), errors.New("\x1b"))
		}
	})
	press(t, m, "s")
	if last := m.draw()[23]; last != "not saved: the disk is full; ?" {
		t.Errorf("%q", last)
	}
	press(t, m, "down")
	if last := m.draw()[23]; !strings.HasPrefix(last, "q quit") {
		t.Errorf("the message stays: %q", last)
	}
}

// TestDump: a heap snapshot is taken of the process that was selected when it was asked for,
// if y is the answer, and the message has its path.
func TestDump(t *testing.T) {
	m := shown(t, 80, 24)
	last := func() string { return strings.TrimSpace(m.draw()[23]) }
	press(t, m, "down", "down", "d")
	if last() != "snapshot: pauses it up to 2 x 1.26 s, up to 80.6 MB; y takes it, others do not" {
		t.Errorf("%q", last())
	}
	press(t, m, "q")
	if !strings.HasPrefix(last(), "q quit") {
		t.Errorf("another key than y: %q", last())
	}
	press(t, m, "d", "y")
	if last() != "next: gctrail objects batch.nettrace (GC 7: 1,000 objects, 50.0 kB)" {
		t.Errorf("%q", last())
	}
	m.opts.Dump = func(*watch.Process) (string, string, error) { return "", "", errors.New("it has ended") }
	press(t, m, "d", "y")
	if last() != "no snapshot: it has ended" {
		t.Errorf("%q", last())
	}
	m = shown(t, 80, 24, func(o *Options) { o.Snapshot = func() *watch.Snapshot { return new(watch.Snapshot) } })
	press(t, m, "d")
	if last() != "no process to take a snapshot of" {
		t.Errorf("%q", last())
	}
}

// TestFreeze: a frozen screen stays, and shows later events after it. The collections on
// the screen stay too.
func TestFreeze(t *testing.T) {
	now := example()
	m := shown(t, 80, 24, func(o *Options) { o.Snapshot = func() *watch.Snapshot { return now } })
	press(t, m, "enter", "down", "down", "down")
	looked := m.draw()
	later := example()
	later.Now = noon.Add(time.Second)
	later.Processes[1].Collections += 2
	for range 2 {
		p := later.Processes[1]
		p.Recent = append(p.Recent, p.Recent[0])
	}
	now = later
	press(t, m, "space")
	m.Update(tick{})
	if !strings.Contains(m.draw()[0], "FROZEN at 12:00:00") {
		t.Errorf("%s", m.draw()[0])
	}
	press(t, m, "space")
	if m.back != 5 || !strings.Contains(m.draw()[0], "12:00:01") || m.draw()[20] != looked[20] {
		t.Errorf("%d back:\n%s", m.back, strings.Join(m.draw(), "\n"))
	}
}

// hostile are names that would change the display if a terminal obeyed them, and names
// whose width differs from their number of characters.
var hostile = []string{
	"\x1b[31mred", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "a\n> 1 root sshd", "a\rb", "a\tb", "a\x00b", "a\x7fb", "\u009b31mC1", "\u0085next",
	"\u202egnp.exe", "\u2066isolate\u2069", "a\u2028b", "zero\u200bwidth\u200d", "日本語のとても長い名前のプログラム", "e\u0301\u0301\u0301", "\xff\xfe",
}

// TestHostileNames: whatever a process reports about itself, a terminal obeys only the
// screen's own escapes, and all other cells stay in their places.
func TestHostileNames(t *testing.T) {
	const benign = "web"
	draw := func(t *testing.T, name string, width int, keys []string) []string {
		m := shown(t, width, 40, func(o *Options) { o.Colour = true })
		for _, p := range m.snap.Processes {
			p.Name = name
			if p.Info != nil {
				p.Info.RuntimeVersion, p.Info.Arch = name, name
			}
			if p.Problem != nil {
				p.Problem = errors.New(name)
			}
		}
		press(t, m, keys...)
		return m.draw()
	}
	for _, width := range []int{60, 80, 200} {
		for _, keys := range [][]string{nil, {"down", "down", "down"}, {"enter"}, {"enter", "f"}, {"s"}, {"/", "4"}} {
			want := draw(t, benign, width, keys)
			for _, name := range hostile {
				got := draw(t, name, width, keys)
				if len(got) != len(want) {
					t.Fatalf("%q: %d lines, want %d", name, len(got), len(want))
				}
				escapes := func(lines []string) int { return strings.Count(strings.Join(lines, ""), "\x1b") }
				if n := escapes(got); n != escapes(want) {
					t.Errorf("%q at %d, %v: %d escapes, want %d", name, width, keys, n, escapes(want))
				}
				for i, line := range got {
					shown := escape.ReplaceAllString(line, "")
					if strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) {
						t.Errorf("%q: %q", name, shown)
					}
					if n := text.Width(shown); n > width {
						t.Errorf("%q: %d cells: %q", name, n, shown)
					}
					figures := escape.ReplaceAllString(want[i], "")
					if figures = figures[max(0, len(figures)-width/3):]; watched(keys, i) && !strings.HasSuffix(shown, figures) {
						t.Errorf("%q: the figures have moved: %q, want %q", name, shown, figures)
					}
				}
			}
		}
	}
}

// escape is a colour, or the end of one.
var escape = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// watched reports whether a line is a watched process in the list.
func watched(keys []string, line int) bool {
	const first, last = 2, 4
	return !slices.Contains(keys, "enter") && first <= line && line <= last
}

// TestRun: the program ends with its context, and waits for work.
func TestRun(t *testing.T) {
	if os.Getenv("TERM") == "" {
		t.Setenv("TERM", "xterm")
	}
	worked := false
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	m := shown(t, 80, 24)
	err := run(ctx, m.opts, func(ctx context.Context) {
		<-ctx.Done()
		worked = true
	}, tea.WithInput(nil), tea.WithOutput(&strings.Builder{}))
	if err != nil || !worked {
		t.Errorf("%v, worked: %v", err, worked)
	}
	defer func() {
		if v := recover(); v != "no" {
			t.Errorf("recovered %v", v)
		}
	}()
	_ = run(t.Context(), m.opts, func(context.Context) { panic("no") }, tea.WithInput(nil), tea.WithOutput(&strings.Builder{}))
}

// TestForeignProcess shows the collections of a process of another PID namespace with its
// only known id.
func TestForeignProcess(t *testing.T) {
	m := shown(t, 120, 40)
	for _, p := range m.snap.Processes {
		p.PID, p.InnerPID = 0, 4242
		for _, c := range p.Recent {
			c.Process = p.Process
		}
	}
	screen := strings.Join(m.draw(), "\n")
	if n := strings.Count(screen, "(4242)"); n <= len(m.snap.Processes) {
		t.Errorf("the ids of processes are %d times on the screen:\n%s", n, screen)
	}
}

// TestLongPauses: the list of all processes has the collections with long pauses, and all of
// them on a key.
func TestLongPauses(t *testing.T) {
	m := shown(t, 200, 50)
	listed := func() (short, all int) {
		_, list, _ := strings.Cut(m.View().Content, "latest GCs")
		for line := range strings.Lines(list) {
			if fields := strings.Fields(line); len(fields) > 8 && strings.Contains(line, "AllocSmall") {
				all++
			}
			if strings.Contains(line, " 3.00 ") {
				short++
			}
		}
		return short, all
	}
	if short, all := listed(); short > 0 || all < 5 {
		t.Errorf("%d of %d listed collections paused for 3 ms", short, all)
	}
	press(t, m, "a")
	if short, all := listed(); short == 0 || all < 5 {
		t.Errorf("on the key, %d of %d listed collections paused for 3 ms", short, all)
	}
}
