package text

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"
)

// A Terminal is what is at the other end of a file.
type Terminal struct {
	Is     bool // a terminal
	Width  int  // in cells; 0 for no limit
	Colour bool
}

// A Page is text for people.
type Page struct {
	bytes.Buffer
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

// UnicodeLocale says whether the environment shows characters beyond ASCII.
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
func (p *Page) Line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// Heading writes a line in bold, wrapped.
func (p *Page) Heading(format string, args ...any) {
	start := p.Len()
	p.Prose("", fmt.Sprintf(format, args...))
	if !p.Colour {
		return
	}
	text := strings.TrimSuffix(p.String()[start:], "\n")
	p.Truncate(start)
	p.Line("\x1b[1m%s\x1b[0m", text)
}

// Section begins a part of the page.
func (p *Page) Section(format string, args ...any) {
	p.Line("")
	p.Heading(format, args...)
}

// Prose writes text in lines of the page's width. The first line begins with
// lead, the others are indented as far.
func (p *Page) Prose(lead, text string) {
	indent := utf8.RuneCountInString(lead)
	p.WriteString(lead)
	at := indent
	for i, word := range strings.Fields(text) {
		n := cells(word)
		if i > 0 && at+1+n > p.Width {
			p.WriteByte('\n')
			p.WriteString(strings.Repeat(" ", indent))
			at = indent
		} else if i > 0 {
			p.WriteByte(' ')
			at++
		}
		p.WriteString(word)
		at += n
	}
	p.WriteByte('\n')
}

// cells is the width of a word, without the escapes in it.
func cells(word string) int {
	n := 0
	for word != "" {
		before, rest, escaped := strings.Cut(word, "\x1b[")
		n += utf8.RuneCountInString(before)
		if !escaped {
			break
		}
		_, word, _ = strings.Cut(rest, "m")
	}
	return n
}

// Command writes a command to copy, on one line.
func (p *Page) Command(indent, command string) { p.Line("%s$ %s", indent, command) }

// Table writes rows under headings, indented.
func (p *Page) Table(columns []Column, rows [][]string) {
	t := Table{W: &p.Buffer, Columns: columns, Width: p.limit, Bold: false}
	for _, row := range rows {
		_ = t.Row(row) // a buffer takes all
	}
	_ = t.Flush()
}
