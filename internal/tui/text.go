package tui

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

// styles are ways to stress text. Without colour there is none.
type styles struct {
	strong, faint, selected, title, warn, heap, pause func(string) string
}

func newStyles(colour bool) styles {
	plain := func(s string) string { return s }
	if !colour {
		return styles{plain, plain, plain, plain, plain, plain, plain}
	}
	render := func(s lipgloss.Style) func(string) string {
		return func(text string) string { return s.Render(text) }
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

// A painter collects the lines of a screen.
type painter struct {
	width, height int
	unicode       bool
	zone          *time.Location // of the times that are shown
	styles        styles
	text          []string
}

func newPainter(width, height int, opts Options) *painter {
	return &painter{width: width, height: height, unicode: opts.Unicode, styles: newStyles(opts.Colour)}
}

// line adds a line that fits. Whatever is in it, the terminal obeys its colours
// only.
func (p *painter) line(s string) { p.text = append(p.text, text.CleanStyled(s)) }

// roomy reports whether there is room for all that is worth showing.
func (p *painter) roomy() bool { return p.height >= roomyHeight }

// left is the room for further lines, above the last one.
func (p *painter) left() int { return max(0, p.height-1-len(p.text)) }

// section adds a heading with a rule.
func (p *painter) section(heading string) {
	rule := "-"
	if p.unicode {
		rule = "─"
	}
	const before = 2
	heading = cut(heading, max(0, p.width-before-2))
	after := p.width - before - 2 - lipgloss.Width(heading)
	if heading == "" || after < 0 {
		p.line(p.styles.faint(strings.Repeat(rule, p.width)))
		return
	}
	p.line(p.styles.faint(strings.Repeat(rule, before)) + " " + p.styles.strong(heading) + " " + p.styles.faint(strings.Repeat(rule, after)))
}

// lines are those of the screen, with the last one.
func (p *painter) lines(last string) []string {
	lines := p.text[:min(len(p.text), p.height-1)]
	for len(lines) < p.height-1 {
		lines = append(lines, "")
	}
	return append(lines, text.CleanStyled(last))
}

// fit cuts a line.
func (p *painter) fit(text string) string { return cut(text, p.width) }

// wrapped adds text in lines of words, at most some, the first behind a lead.
func (p *painter) wrapped(lead, text string, most int, style func(string) string) {
	for i, line := range wrap(text, p.width-lipgloss.Width(lead)) {
		if i == most || p.left() == 0 {
			return
		}
		p.line(p.fit(lead) + style(line))
		lead = strings.Repeat(" ", lipgloss.Width(lead))
	}
}

// parts adds texts with commas between them, in at most so many lines: those that
// do not fit are left out.
func (p *painter) parts(most int, texts []string) {
	line := ""
	for _, text := range texts {
		if line != "" && lipgloss.Width(line)+len(", ")+lipgloss.Width(text) > p.width {
			if most--; most == 0 {
				break
			}
			p.line(p.fit(line))
			line = ""
		}
		if line != "" {
			line += ", "
		}
		line += text
	}
	if line != "" {
		p.line(p.fit(line))
	}
}

// keys is the line of the keys, as many as there is room for: pairs of a key and
// what it does.
func (p *painter) keys(hints []string) string {
	var b strings.Builder
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
			b.WriteString("  ")
		}
		b.WriteString(p.styles.strong(hints[i]) + " " + p.styles.faint(hints[i+1]))
		width += n
	}
	return b.String()
}

// wrap breaks text into lines of at most so many cells. A word that is longer is
// cut.
func wrap(text string, width int) []string {
	if width < 1 {
		return nil
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = cut(word, width)
		case lipgloss.Width(line)+1+lipgloss.Width(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = cut(word, width)
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut shortens plain text to some cells.
func cut(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n += lipgloss.Width(string(r)); n > width {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func padLeft(text string, width int) string {
	text = cut(text, width)
	return strings.Repeat(" ", max(0, width-lipgloss.Width(text))) + text
}

func padRight(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(0, width-lipgloss.Width(text)))
}

// clean is text from a process without what would control the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// processID is the id of a process; one that only its own namespace knows is in
// brackets.
func processID(p *watch.Process) string {
	if p.PID == 0 {
		return "(" + strconv.Itoa(p.InnerPID) + ")"
	}
	return strconv.Itoa(p.PID)
}

func nameOf(p *watch.Process) string { return cmp.Or(clean(p.Name), "?") }

// ago writes how long ago something was, to the second.
func ago(d time.Duration) string { return max(0, d).Truncate(time.Second).String() }
