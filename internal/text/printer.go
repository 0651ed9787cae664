package text

import (
	"fmt"
	"io"
)

// A Printer writes lines for people, cleaned, on what may be a terminal. It is the
// only way there: it is not an io.Writer.
type Printer struct{ w io.Writer }

// NewPrinter returns a printer on w.
func NewPrinter(w io.Writer) *Printer { return &Printer{w} }

// Line writes a line.
func (p *Printer) Line(format literal, args ...any) error {
	_, err := fmt.Fprintln(p.w, disarmed(cleaned(format, args)))
	return err
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
