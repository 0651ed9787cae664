package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
)

// A model is the state of the screen. It implements tea.Model; its methods have pointer
// receivers and return it.
type model struct {
	opts Options

	snap   *watch.Snapshot // the shown state
	frozen bool

	width, height int
	window        tea.WindowSizeMsg // its size, not limited

	screen   screen
	selected int  // ID of a process
	from     int  // the first row of the list that is shown
	back     int  // how many collections the list of them is scrolled back
	advice   bool // findings are in the place of collections
	every    bool // the list has all collections, not only those with long pauses
	read     int  // how many lines the findings are scrolled
	help     bool

	order    int // of sortings
	reversed bool
	filter   string
	typing   bool           // the filter
	asked    *watch.Process // of which a heap snapshot may be taken; nil if there is no question
	cost     string         // of the snapshot

	message string // in place of the keys
	shownAt time.Time
}

// A screen is one of the views.
type screen uint8

const (
	onList    screen = 1 << iota
	onProcess        // one in depth
	anywhere  = onList | onProcess
)

// messageFor is how long a message stands.
const messageFor = 8 * time.Second

type (
	tick  struct{}
	saved struct {
		process *watch.Process
		path    string
		size    int
		err     error
	}
	dumped struct {
		path, about string
		err         error
	}
)

func newModel(opts Options) *model {
	m := &model{opts: opts, screen: onList, width: 80, height: 24, snap: &watch.Snapshot{}}
	m.order = max(0, slices.IndexFunc(sortings, func(s sorting) bool { return s.name == opts.Sort }))
	m.look()
	return m
}

func (m *model) Init() tea.Cmd { return later() }

func later() tea.Cmd { return tea.Tick(refresh, func(time.Time) tea.Msg { return tick{} }) }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.window, m.width, m.height = msg, msg.Width, msg.Height
		if m.opts.Columns > 0 {
			m.width = min(m.width, m.opts.Columns)
		}
	case tick:
		if !m.frozen {
			m.look()
		}
		if m.opts.window(m.window) != m.window {
			return m, tea.Batch(later(), tea.RequestWindowSize)
		}
		return m, later()
	case saved:
		m.showSaved(&msg)
	case dumped:
		m.showDumped(&msg)
	case tea.KeyPressMsg:
		m.message = ""
		return m, m.press(msg)
	}
	return m, nil
}

// showSaved shows the saved file, or the reason why it failed.
func (m *model) showSaved(s *saved) {
	if s.err != nil {
		m.say("not saved: %v", s.err)
		return
	}
	cut := ""
	if !s.process.Whole {
		cut = ", without its beginning"
	}
	m.say("saved %s%s; next: gctrail %s", units.Bytes(int64(s.size)), cut, text.Quoted(s.path))
}

// showDumped shows the file of a heap snapshot, or the reason why there is none.
func (m *model) showDumped(d *dumped) {
	if d.err != nil {
		m.say("no snapshot: %v", d.err)
		return
	}
	m.say("next: gctrail objects %s (%s)", text.Quoted(d.path), d.about)
}

// look takes a new snapshot. The selection stays, and so do the collections on the
// screen, unless they are the latest.
func (m *model) look() {
	old := m.current()
	m.snap = m.opts.Snapshot()
	now := m.current()
	if now == nil {
		return
	}
	m.selected = now.ID
	if m.back > 0 && old != nil && now.ID == old.ID {
		m.scroll(old.Collections - now.Collections)
	}
}

func (m *model) say(format string, args ...any) {
	m.message, m.shownAt = strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; "), m.snap.Now
}

// rows returns the processes that are shown, in their order.
func (m *model) rows() []*watch.Process {
	var rows []*watch.Process
	for _, p := range m.snap.Processes {
		if matches(p, m.filter) {
			rows = append(rows, p)
		}
	}
	sortings[m.order].sort(rows, m.reversed)
	return rows
}

// matches reports whether a filter is in the name, the id or the container of a
// process.
func matches(p *watch.Process, filter string) bool {
	text := strings.ToLower(p.Name + "\n" + processID(p.PID, p.InnerPID) + "\n" + p.Container)
	return strings.Contains(text, strings.ToLower(filter))
}

// selection returns the index of the selected process in rows: 0 if it is not there, -1
// if there is none.
func (m *model) selection(rows []*watch.Process) int {
	i := slices.IndexFunc(rows, func(p *watch.Process) bool { return p.ID == m.selected })
	if i < 0 {
		return min(0, len(rows)-1)
	}
	return i
}

// current returns the selected process, nil if there is none.
func (m *model) current() *watch.Process {
	rows := m.rows()
	if i := m.selection(rows); i >= 0 {
		return rows[i]
	}
	return nil
}

// move selects the process some rows further down.
func (m *model) move(by int) {
	rows := m.rows()
	if i := m.selection(rows); i >= 0 {
		m.selected = rows[min(max(0, i+by), len(rows)-1)].ID
		m.back = 0
	}
}

func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.draw(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "gctrail top"
	return v
}

// draw returns the lines of the screen, at most its height.
func (m *model) draw() []string {
	if m.width < 1 || m.height < 1 {
		return nil
	}
	p := newPainter(m.width, m.height, m.opts)
	p.zone = m.snap.Now.Location()
	current := m.current()
	switch {
	case m.help:
		m.drawHelp(p)
	case m.screen == onProcess && current != nil:
		m.drawProcess(p, current)
	default:
		m.drawList(p, current)
	}
	return p.screen(m.footer(p))
}

// footer returns the last line: the typed text, a message, or the keys.
func (m *model) footer(p *painter) line {
	switch {
	case m.typing:
		return line{plain(p.fit("filter: " + m.filter + "_  (enter keeps it, esc removes it)"))}
	case m.asked != nil:
		return line{p.styles.warn(p.fit("snapshot: " + m.cost + "; y takes it, others do not"))}
	case m.message != "" && m.snap.Now.Sub(m.shownAt) < messageFor:
		return line{p.styles.warn(p.fit(m.message))}
	case m.help:
		return p.keys([]string{"any key", "back"})
	default:
		return p.keys(m.hints())
	}
}
