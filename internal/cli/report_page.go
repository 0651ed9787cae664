package cli

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"
)

// A page is text for people.
type page struct {
	bytes.Buffer
	width   int // of lines of prose
	limit   int // of tables; 0 for none
	colour  bool
	unicode bool // block characters may be used
}

const (
	narrowestPage = 40
	widestProse   = 100
	pipedProse    = 80
)

// newPage makes a page for out, that fits its terminal.
func newPage(std *stdio, out *output) *page {
	if out.file != nil {
		return pageOn(terminal{})
	}
	return pageOn(std.outTerm)
}

// pageOn makes a page that fits a terminal.
func pageOn(t terminal) *page {
	p := &page{width: pipedProse, colour: t.colour, unicode: unicodeLocale()}
	if t.width > 0 {
		p.limit = t.width
		p.width = min(max(p.limit, narrowestPage), widestProse)
	}
	return p
}

// unicodeLocale says whether the environment shows characters beyond ASCII.
func unicodeLocale() bool {
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

// line writes a line as it is.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// heading writes a line in bold, wrapped.
func (p *page) heading(format string, args ...any) {
	start := p.Len()
	p.prose("", fmt.Sprintf(format, args...))
	if !p.colour {
		return
	}
	text := strings.TrimSuffix(p.String()[start:], "\n")
	p.Truncate(start)
	p.line("\x1b[1m%s\x1b[0m", text)
}

// section begins a part of the page.
func (p *page) section(format string, args ...any) {
	p.line("")
	p.heading(format, args...)
}

// prose writes text in lines of the page's width. The first line begins with
// lead, the others are indented as far.
func (p *page) prose(lead, text string) {
	indent := utf8.RuneCountInString(lead)
	p.WriteString(lead)
	at := indent
	for i, word := range strings.Fields(text) {
		n := cells(word)
		if i > 0 && at+1+n > p.width {
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

// command writes a command to copy, on one line.
func (p *page) command(indent, command string) { p.line("%s$ %s", indent, command) }

// table writes rows under headings, indented.
func (p *page) table(columns []tableColumn, rows [][]string) {
	t := table{w: &p.Buffer, columns: columns, width: p.limit, bold: false}
	for _, row := range rows {
		_ = t.row(row) // a buffer takes all
	}
	_ = t.flush()
}
