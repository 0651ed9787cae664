package text

import (
	"bytes"
	"iter"
	"os"
	"runtime"
	"strings"
)

// A Terminal describes the other end of a file.
type Terminal struct {
	Is     bool // a terminal
	Width  int  // in cells; 0 for no limit
	Height int  // in lines; 0 if unknown
	Colour bool
}

// A Page is text for people. It is cleaned when it is written.
type Page struct {
	buffer  bytes.Buffer
	Width   int // of lines of prose
	limit   int // of tables; 0 for none
	Colour  bool
	Unicode bool // block characters may be used
}

const (
	narrowestPage = 40
	widestProse   = 100
	pipedProse    = 80
)

// PageOn makes a page that fits a terminal.
func PageOn(t Terminal) *Page {
	p := &Page{Width: pipedProse, Colour: t.Colour, Unicode: UnicodeLocale()}
	if t.Width > 0 {
		p.limit = t.Width
		p.Width = min(max(p.limit, narrowestPage), widestProse)
	}
	return p
}

// UnicodeLocale reports whether the environment shows characters beyond ASCII.
func UnicodeLocale() bool {
	if os.Getenv("TERM") == "dumb" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}

// Line writes a line as it is.
func (p *Page) Line(format literal, args ...any) {
	p.buffer.WriteString(cleaned(format, args))
	p.buffer.WriteByte('\n')
}

// Heading writes a line in bold, wrapped.
func (p *Page) Heading(format literal, args ...any) {
	p.Spans("", Span{cleaned(format, args), Strong})
}

// Section begins a part of the page.
func (p *Page) Section(format literal, args ...any) {
	p.Line("")
	p.Heading(format, args...)
}

// A Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// A Style is how text stands out, if there is colour.
type Style uint8

// Styles. The ones after Strong are colours, for severity and verdicts.
const (
	Plain Style = iota
	Strong
	Note
	Warning
	Problem
	Good
)

var escapes = [...]string{Strong: "1", Good: "32", Note: "36", Warning: "33", Problem: "31"}

// Prose writes text in lines of the page's width. The first line begins with lead,
// the others are indented as far.
func (p *Page) Prose(lead, text string) { p.Spans(lead, Span{Text: text}) }

// Spans writes spans as Prose does, with a space between them.
func (p *Page) Spans(lead string, spans ...Span) {
	lead = Clean(lead)
	indent := Width(lead)
	p.buffer.WriteString(lead)
	at, first := indent, true
	for _, span := range spans {
		styled := p.Colour && span.Style != Plain
		open := false
		for word := range p.words(span.Text, indent) {
			n := Width(word)
			switch {
			case first:
			case at+1+n > p.Width:
				p.buffer.WriteByte('\n')
				p.buffer.WriteString(strings.Repeat(" ", indent))
				at = indent
			default:
				p.buffer.WriteByte(' ')
				at++
			}
			if styled && !open {
				p.buffer.WriteString("\x1b[" + escapes[span.Style] + "m")
				open = true
			}
			p.buffer.WriteString(word)
			at += n
			first = false
		}
		if open {
			p.buffer.WriteString("\x1b[0m")
		}
	}
	p.buffer.WriteByte('\n')
}

// words yields the words of a text, cleaned. On a terminal, a word that is longer
// than a line after the indent comes in pieces.
func (p *Page) words(s string, indent int) iter.Seq[string] {
	return func(yield func(string) bool) {
		room := p.Width - indent
		for word := range words(s) {
			word = Clean(word)
			for p.limit > 0 && room > 1 && Width(word) > room {
				piece := firstPiece(word, room)
				if !yield(piece) {
					return
				}
				word = word[len(piece):]
			}
			if word != "" && !yield(word) {
				return
			}
		}
	}
}

// Row writes spans one after the other on one line, and cuts it to the page's width.
func (p *Page) Row(spans ...Span) {
	room := p.Width
	for _, span := range spans {
		words := Cut(Clean(span.Text), room)
		room -= Width(words)
		if p.Colour && span.Style != Plain {
			words = "\x1b[" + escapes[span.Style] + "m" + words + "\x1b[0m"
		}
		p.buffer.WriteString(words)
	}
	p.buffer.WriteByte('\n')
}

// Command writes a command to copy, on one line.
func (p *Page) Command(indent, command string) { p.Line("%s$ %s", indent, command) }

// CommandRows returns the number of rows that Command takes on the terminal.
func (p *Page) CommandRows(indent, command string) int {
	if p.limit == 0 {
		return 1
	}
	return max(1, (Width(Clean(indent+"$ "+command))+p.limit-1)/p.limit)
}

// Table writes rows under headings, indented.
func (p *Page) Table(columns []Column, rows [][]string) {
	p.write(&Table{Columns: columns}, rows)
}

// List writes a table with a bold heading, and with lines under each row, which
// below returns.
func (p *Page) List(columns []Column, rows [][]string, below func(row int) []string) {
	p.write(&Table{Columns: columns, Bold: p.Colour, Below: below}, rows)
}

func (p *Page) write(t *Table, rows [][]string) {
	t.W, t.Width = &p.buffer, p.limit
	for _, row := range rows {
		_ = t.Row(row) // a buffer takes all
	}
	_ = t.Flush()
}

// Lines returns how many lines were written.
func (p *Page) Lines() int { return bytes.Count(p.buffer.Bytes(), []byte("\n")) }

// ascii are the characters beyond ASCII that the program writes of its own accord,
// but for charts. Each takes as many cells as what replaces it, or tables would
// lose their alignment.
var ascii = strings.NewReplacer("µ", "u", cutMark, "+")

// ASCII returns s with ASCII in place of the program's own other characters.
func ASCII(s string) string { return ascii.Replace(s) }

// Bytes returns the text of the page.
func (p *Page) Bytes() []byte { return []byte(p.String()) }

// String returns the text of the page.
func (p *Page) String() string {
	written := disarmed(p.buffer.String())
	if p.Unicode {
		return written
	}
	return ASCII(written)
}

// Reset empties the page.
func (p *Page) Reset() { p.buffer.Reset() }
