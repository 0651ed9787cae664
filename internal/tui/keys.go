package tui

import (
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// A binding is the action of keys on some screens.
type binding struct {
	keys []string // as tea names them
	on   screen
	show string // the keys in help texts; empty for keys that need no mention
	does string // in a word
	help string // in a sentence
	do   func(*model) tea.Cmd
}

// bindings returns all keys, the most important first.
func bindings() []binding {
	return []binding{
		{[]string{"q", "ctrl+c"}, anywhere, "q", "quit", "quit", func(*model) tea.Cmd { return tea.Quit }},
		{[]string{"?"}, anywhere, "?", "help", "show these keys and what the figures mean", then(func(m *model) { m.help = true })},
		{[]string{"enter", "right", "l"}, onList, "enter", "open", "show the selected process in detail", then((*model).open)},
		{[]string{"esc", "left", "h", "backspace"}, onProcess, "esc", "back", "back to all processes", then(func(m *model) { m.screen = onList })},
		{[]string{"f"}, onProcess, "f", "findings", "switch between collections and all findings", then(func(m *model) { m.advice, m.read = !m.advice, 0 })},
		{[]string{"tab", "n"}, onProcess, "tab", "next", "the next process; shift-tab the one before", then(func(m *model) { m.turn(1) })},
		{[]string{"shift+tab", "p"}, onProcess, "", "", "", then(func(m *model) { m.turn(-1) })},
		{[]string{"s"}, anywhere, "s", "save", "save the trace of the process as a .nettrace in the current folder", (*model).save},
		{[]string{"d"}, anywhere, "d", "dump", "take a heap snapshot of the process; asks, because it pauses it", then((*model).ask)},
		{[]string{"space"}, anywhere, "space", "freeze", "pause the screen; recording continues", then((*model).freeze)},
		{[]string{">", "o"}, onList, "< >", "sort", "sort by the next or previous column", then(func(m *model) { m.sortBy(1) })},
		{[]string{"<"}, onList, "", "", "", then(func(m *model) { m.sortBy(-1) })},
		{[]string{"/"}, onList, "/", "filter", "filter processes by name, id or container", then(func(m *model) { m.typing = true })},
		{[]string{"esc"}, onList, "", "", "", then(func(m *model) { m.filter = "" })},
		{[]string{"r"}, onList, "r", "reverse", "reverse the order", then(func(m *model) { m.reversed = !m.reversed })},
		{[]string{"a"}, onList, "a", "all GCs", "list all GCs of all processes, or those that paused for 10 ms or longer", then(func(m *model) { m.every = !m.every })},
		{[]string{"up", "k"}, onList, "", "", "", then(func(m *model) { m.move(-1) })},
		{[]string{"down", "j"}, onList, "up/down", "select", "select a process; also j and k", then(func(m *model) { m.move(1) })},
		{[]string{"pgup"}, onList, "", "", "", then(func(m *model) { m.move(-m.height / 3) })},
		{[]string{"pgdown"}, onList, "", "", "", then(func(m *model) { m.move(m.height / 3) })},
		{[]string{"home", "g"}, onList, "", "", "", then(func(m *model) { m.move(-1 << 20) })},
		{[]string{"end", "G"}, onList, "", "", "", then(func(m *model) { m.move(1 << 20) })},
		{[]string{"up", "k"}, onProcess, "", "", "", then(func(m *model) { m.leaf(1) })},
		{[]string{"down", "j"}, onProcess, "up/down", "scroll", "scroll through the collections or findings; also j and k", then(func(m *model) { m.leaf(-1) })},
		{[]string{"pgup"}, onProcess, "", "", "", then(func(m *model) { m.leaf(m.height / 2) })},
		{[]string{"pgdown"}, onProcess, "", "", "", then(func(m *model) { m.leaf(-m.height / 2) })},
		{[]string{"ctrl+z"}, anywhere, "", "", "", func(*model) tea.Cmd { return tea.Suspend }},
	}
}

// then returns an action without a command.
func then(do func(*model)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		do(m)
		return nil
	}
}

// press executes a key's action.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.Keystroke()
	if msg.Text != "" && msg.Text != " " {
		key = msg.Text
	}
	switch {
	case key == "ctrl+c":
		return tea.Quit
	case m.asked != nil:
		return m.answer(key)
	case m.typing:
		m.edit(key, msg.Text)
		return nil
	case m.help && key != "q":
		m.help = false
		return nil
	}
	for _, b := range bindings() {
		if b.on&m.screen != 0 && slices.Contains(b.keys, key) {
			return b.do(m)
		}
	}
	return nil
}

// edit changes the filter.
func (m *model) edit(key, text string) {
	switch key {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-n]
	default:
		m.filter += text
	}
}

// hints returns the keys of the screen with what they do.
func (m *model) hints() []string {
	var hints []string
	for _, b := range bindings() {
		if b.on&m.screen != 0 && b.show != "" {
			does := b.does
			if m.frozen && does == "freeze" {
				does = "resume"
			}
			hints = append(hints, b.show, does)
		}
	}
	return hints
}

func (m *model) open() {
	if p := m.current(); p != nil {
		m.screen, m.selected, m.back, m.read = onProcess, p.ID, 0, 0
	}
}

// turn shows another process in depth, in a circle.
func (m *model) turn(by int) {
	rows := m.rows()
	if i := m.selection(rows); i >= 0 {
		m.selected = rows[(i+by+len(rows))%len(rows)].ID
		m.back, m.read = 0, 0
	}
}

// leaf moves through the findings or the collections of a process.
func (m *model) leaf(by int) {
	if m.advice {
		m.read = max(0, m.read-by)
		return
	}
	m.scroll(by)
}

// scroll moves through the collections, to later ones if by is positive.
func (m *model) scroll(by int) {
	if p := m.current(); p != nil {
		m.back = min(max(0, m.back-by), max(0, len(p.Recent)-1))
	}
}

func (m *model) freeze() {
	m.frozen = !m.frozen
	if !m.frozen {
		m.look()
	}
}

func (m *model) sortBy(by int) {
	m.order = (m.order + by + len(sortings)) % len(sortings)
	m.reversed = false
}

// save saves the trace of the selected process.
func (m *model) save() tea.Cmd {
	p := m.current()
	if p == nil {
		m.say("no process to save")
		return nil
	}
	m.say("saving")
	return func() tea.Msg {
		path, size, err := m.opts.Save(p)
		return saved{p, path, size, err}
	}
}

// ask asks whether to take a heap snapshot of the selected process.
func (m *model) ask() {
	if m.asked = m.current(); m.asked == nil {
		m.say("no process to take a snapshot of")
		return
	}
	m.cost = m.opts.DumpCost(m.asked)
}

// answer takes the heap snapshot if the key says so.
func (m *model) answer(key string) tea.Cmd {
	p := m.asked
	m.asked = nil
	if key != "y" {
		return nil
	}
	m.say("taking a snapshot of %s", p.Name)
	return func() tea.Msg {
		path, about, err := m.opts.Dump(p)
		return dumped{path, about, err}
	}
}
