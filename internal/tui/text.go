package tui

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

// A part is text in one style. Only styles make one, from text that they clean, so that
// whatever is in a name, the terminal obeys only the escapes of the styles.
type part struct{ shown string }

// A style makes text stand out, if there is colour.
type style func(string) part

func plain(s string) part { return part{text.Clean(s)} }

// styles are ways to stress text.
type styles struct {
	strong, faint, selected, title, warn, heap, pause style
}

func newStyles(colour bool) styles {
	if !colour {
		return styles{plain, plain, plain, plain, plain, plain, plain}
	}
	render := func(s lipgloss.Style) style {
		return func(words string) part { return part{s.Render(text.Clean(words))} }
	}
	style := lipgloss.NewStyle
	return styles{
		strong:   render(style().Bold(true)),
		faint:    render(style().Faint(true)),
		selected: render(style().Reverse(true)),
		title:    render(style().Bold(true).Foreground(lipgloss.Cyan)),
		warn:     render(style().Foreground(lipgloss.Yellow)),
		heap:     render(style().Foreground(lipgloss.Green)),
		pause:    render(style().Foreground(lipgloss.Red)),
	}
}

// A line is one of a screen, from left to right.
type line []part

func (l line) String() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.shown)
	}
	return b.String()
}

// A painter collects the lines of a screen.
type painter struct {
	width, height int
	unicode       bool
	zone          *time.Location // of the times that are shown
	styles        styles
	lines         []line
}

func newPainter(width, height int, opts Options) *painter {
	return &painter{width: width, height: height, unicode: opts.Unicode, styles: newStyles(opts.Colour)}
}

// line adds a line, whose parts fit together.
func (p *painter) line(parts ...part) { p.lines = append(p.lines, parts) }

// text adds a line of text in one style, cut to the width. Spaces at its end are dropped.
func (p *painter) text(style style, words string) {
	p.line(style(p.fit(strings.TrimRight(words, " "))))
}

// roomy reports whether there is room for everything.
func (p *painter) roomy() bool { return p.height >= roomyHeight }

// left returns the number of lines that still fit above the last one.
func (p *painter) left() int { return max(0, p.height-1-len(p.lines)) }

// section adds a heading with a rule.
func (p *painter) section(heading string) {
	rule := "-"
	if p.unicode {
		rule = "─"
	}
	const before = 2
	heading = text.Cut(heading, max(0, p.width-before-2))
	after := p.width - before - 2 - text.Width(heading)
	if heading == "" || after < 0 {
		p.line(p.styles.faint(strings.Repeat(rule, p.width)))
		return
	}
	p.line(p.styles.faint(strings.Repeat(rule, before)), plain(" "), p.styles.strong(heading), plain(" "), p.styles.faint(strings.Repeat(rule, after)))
}

// screen returns the lines of the screen, with the last one.
func (p *painter) screen(last line) []string {
	shown := make([]string, p.height)
	for i, l := range p.lines[:min(len(p.lines), p.height-1)] {
		shown[i] = l.String()
	}
	shown[p.height-1] = last.String()
	if !p.unicode {
		for i := range shown {
			shown[i] = text.ASCII(shown[i])
		}
	}
	return shown
}

// fit cuts a line.
func (p *painter) fit(words string) string { return text.Cut(words, p.width) }

// wrapped adds text in at most so many lines, the first behind a lead.
func (p *painter) wrapped(lead, words string, most int, style style) {
	for i, line := range text.Wrap(words, p.width-text.Width(lead)) {
		if i == most || p.left() == 0 {
			return
		}
		p.line(plain(p.fit(lead)), style(line))
		lead = strings.Repeat(" ", text.Width(lead))
	}
}

// parts adds texts with commas between them, in at most so many lines. It leaves out
// texts that do not fit.
func (p *painter) parts(most int, texts []string) {
	line := ""
	for _, words := range texts {
		if line != "" && text.Width(line)+len(", ")+text.Width(words) > p.width {
			if most--; most == 0 {
				break
			}
			p.text(plain, line)
			line = ""
		}
		if line != "" {
			line += ", "
		}
		line += words
	}
	if line != "" {
		p.text(plain, line)
	}
}

// keys returns the line of the keys that fit: pairs of a key and its action.
func (p *painter) keys(hints []string) line {
	var keys line
	width := 0
	for i := 0; i+1 < len(hints); i += 2 {
		n := len(hints[i]) + 1 + len(hints[i+1])
		if i > 0 {
			n += 2
		}
		if width+n > p.width {
			break
		}
		if i > 0 {
			keys = append(keys, plain("  "))
		}
		keys = append(keys, p.styles.strong(hints[i]), plain(" "), p.styles.faint(hints[i+1]))
		width += n
	}
	return keys
}

// processID returns the id of a process, in brackets if only its own namespace knows it.
func processID(pid, inner int) string {
	if pid == 0 {
		return "(" + strconv.Itoa(inner) + ")"
	}
	return strconv.Itoa(pid)
}

func nameOf(p *watch.Process) string { return cmp.Or(p.Name, "?") }

// ago writes how long ago something was, to the second.
func ago(d time.Duration) string { return max(0, d).Truncate(time.Second).String() }
