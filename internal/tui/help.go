package tui

import "github.com/gctrail/gctrail/internal/text"

// definitions explain the figures.
var definitions = [][2]string{
	{"paused %", "of the last 10 s, how long threads were paused for GCs"},
	{"max ms", "the longest pause since gctrail attached; last ms: the latest one"},
	{"GC/s", "collections a second, over the last 10 s"},
	{"alloc MB/s", "allocated between GCs, over about the last 10 s; > at least, ~ about"},
	{"heap MB", "the heap after the latest collection, with free space in it"},
	{"resident MB", "what the system counts; native: beyond the committed GC heap"},
	{"gen0 to POH", "the same for each generation, large (LOH) and pinned (POH) objects"},
}

// drawHelp explains the keys and the figures.
func (m *model) drawHelp(p *painter) {
	p.heading("gctrail top: help", m.snap.Now, m.frozen)
	const keyWidth = 9
	for _, b := range bindings() {
		if b.show != "" && b.on&m.screen != 0 {
			p.line(p.styles.strong(text.PadRight(b.show, min(keyWidth, p.width))), p.rest(b.help, keyWidth))
		}
	}
	p.section("figures")
	const figureWidth = 12
	for _, d := range definitions {
		p.line(p.styles.strong(text.PadRight(d[0], min(figureWidth, p.width))), p.rest(d[1], figureWidth))
	}
	p.wrapped("", "1 MB = 1,000,000 bytes. For definitions: gctrail report --explain NAME", p.left(), plain)
}

func (p *painter) rest(words string, used int) part {
	return plain(text.Cut(words, max(0, p.width-used)))
}
