package text

import (
	"fmt"
	"io"
	"iter"
	"strings"
)

// A Printer writes cleaned lines for people to a terminal or a file. It is not an
// io.Writer, so that nothing gets there uncleaned.
type Printer struct {
	w     io.Writer
	width int // of lines, in cells; 0 for no limit
}

// NewPrinter returns a printer on w.
func NewPrinter(w io.Writer) *Printer { return &Printer{w: w} }

// On returns a printer that breaks lines between words where the terminal would break
// them within words.
func (p *Printer) On(t Terminal) *Printer { return &Printer{p.w, t.Width} }

// Line writes a line.
func (p *Printer) Line(format literal, args ...any) error {
	line := cleaned(format, args)
	if p.width > 0 && Width(line) > p.width {
		line = folded(line, p.width)
	}
	_, err := fmt.Fprintln(p.w, disarmed(line))
	return err
}

// folded breaks a line between words. It does not break commands, so that they can be
// copied: a command that is longer than a line is left to the terminal.
func folded(line string, width int) string {
	return strings.Join(fill(width, pieces(line)), "\n")
}

// pieces yields the words of a line, and the words of a command together. A command
// follows a colon, and ends at a semicolon or a comma.
func pieces(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		command, before := "", ""
		for word := range words(line) {
			switch {
			case command != "":
				command += " " + word
			case word == "gctrail" && strings.HasSuffix(before, ":"):
				command = word
			default:
				if !yield(word) {
					return
				}
			}
			before = word
			if command != "" && strings.ContainsAny(word[len(word)-1:], ";,") {
				if !yield(command) {
					return
				}
				command = ""
			}
		}
		if command != "" {
			yield(command)
		}
	}
}

// Page writes a page.
func (p *Printer) Page(page *Page) error {
	_, err := p.w.Write(page.Bytes())
	return err
}

// Status writes a line in place of the status before it.
func (p *Printer) Status(line string, width int) {
	line = Clean(line)
	if width > 0 {
		line = Cut(line, width-1)
	}
	fmt.Fprint(p.w, "\r\x1b[K", line)
}

// EraseStatus makes room for other lines.
func (p *Printer) EraseStatus() { fmt.Fprint(p.w, "\r\x1b[K") }

// Help returns a writer for texts of several lines that are part of the program,
// such as its help.
func (p *Printer) Help() io.Writer { return p.w }
