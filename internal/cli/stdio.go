package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
)

// A stdio holds the streams of a command: data goes to out, messages go to err.
type stdio struct {
	out              io.Writer // for data, which is written by an exporter or as a page
	err              *text.Printer
	outTerm, errTerm text.Terminal

	args    []string // the command line, for suggestions; nil if unknown
	shell   bool     // a shell may ask this command line for completions
	noPager bool
	showing *progress     // of the trace being read
	status  *text.Printer // for progress, which waits for nothing; nil for err
	talk    *aside        // where err writes
	pager   *text.Pager   // that is open; nil for none
}

func newStdio() *stdio {
	std := &stdio{out: os.Stdout, outTerm: terminalOf(os.Stdout), errTerm: terminalOf(os.Stderr), shell: true}
	std.talk = &aside{std: std, w: os.Stderr}
	std.err, std.status = text.NewPrinter(std.talk).On(std.errTerm), text.NewPrinter(os.Stderr)
	return std
}

// An aside writes messages to a terminal that a pager may be using. It holds messages back
// until the pager has ended.
type aside struct {
	std  *stdio
	w    io.Writer
	held []byte
}

func (a *aside) Write(p []byte) (int, error) {
	a.held = append(a.held, p...)
	if a.std.errTerm.Is && a.std.pager != nil {
		return len(p), nil
	}
	_, err := a.w.Write(a.held)
	a.held = a.held[:0]
	return len(p), err
}

// endPaging shows the text held back for the pager, and waits until it has ended.
func (std *stdio) endPaging() error {
	if std.pager == nil {
		return nil
	}
	err := std.pager.Close()
	std.pager = nil
	if std.talk != nil {
		_, _ = std.talk.Write(nil) // there is no other output
	}
	return err
}

// addFlags adds the flags for the output of all commands.
func (std *stdio) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&std.noPager, "no-pager", false, "do not show long output through $GCTRAIL_PAGER, $PAGER or less")
	flags.Var(colour{std}, "color", "use colors: auto (on a terminal, unless NO_COLOR is set), always, never")
}

// A colour is the flag --color.
type colour struct{ std *stdio }

var colourWords = []string{"auto", "always", "never"}

func (colour) Type() string { return strings.Join(colourWords, "|") }

func (colour) String() string { return colourWords[0] }

func (c colour) Set(s string) error {
	switch s {
	case "auto":
	case "always", "never":
		c.std.outTerm.Colour, c.std.errTerm.Colour = s == "always", s == "always"
	default:
		return fmt.Errorf("must be one of %s", strings.Join(colourWords, ", "))
	}
	return nil
}

// terminalOf examines f and the environment: COLUMNS, LINES, NO_COLOR, CLICOLOR_FORCE and
// TERM=dumb.
func terminalOf(f *os.File) text.Terminal {
	var t text.Terminal
	dumb := os.Getenv("TERM") == "dumb"
	if term.IsTerminal(int(f.Fd())) {
		t.Is = !dumb && obeysEscapes(f)
		t.Width, t.Height, _ = term.GetSize(int(f.Fd()))
		t.Width, t.Height = cmp.Or(columnsAsked(), t.Width), cmp.Or(sizeAsked("LINES"), t.Height)
	}
	forced := os.Getenv("CLICOLOR_FORCE")
	t.Colour = os.Getenv("NO_COLOR") == "" && (t.Is || forced != "" && forced != "0")
	return t
}

// columnsAsked returns the width that COLUMNS asks for, 0 for none.
func columnsAsked() int { return sizeAsked("COLUMNS") }

// sizeAsked returns the size that a variable of the environment asks for, 0 for
// none.
func sizeAsked(variable string) int {
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return 0
	}
	return max(0, n)
}

const outputBuffer = 64 << 10

// A screen writes to standard output. Where that is a terminal, which progress
// is shown on too, the first output ends the progress.
type screen struct{ *stdio }

func (s screen) Write(p []byte) (int, error) {
	if s.outTerm.Is && s.showing != nil {
		s.showing.stop()
	}
	return s.out.Write(p)
}

// An output is where a command's data goes.
type output struct {
	*bufio.Writer
	name  string
	file  *outfile.File // nil for standard output
	std   *stdio        // that messages about file go to
	paged *stdio        // whose pager shows the output; nil for none
}

// paged has the output shown through a pager if it is text for a person at a
// terminal. It is called before anything is written.
func (std *stdio) paged(out *output) {
	if out.file != nil || out.paged != nil || !std.outTerm.Is || std.outTerm.Height == 0 || std.noPager {
		return
	}
	out.paged, std.pager = std, &text.Pager{
		Out: std.out, Width: std.outTerm.Width, Height: std.outTerm.Height, Command: text.ChosenPager(),
		Started: func() {
			if std.showing != nil {
				std.showing.stop()
			}
		},
	}
	out.Reset(std.pager)
}

// create opens the output path; "-" is standard output. An earlier file at the path stays
// until end. create refuses a path that is being read: an input, a part of one, or the file
// behind standard input.
func (std *stdio) create(path string, inputs []string) (*output, error) {
	if path == "-" || path == "/dev/stdout" {
		return &output{Writer: bufio.NewWriterSize(screen{std}, outputBuffer), name: stdoutName}, nil
	}
	var read []string
	for _, input := range inputs {
		read = append(read, open.Reads(input)...)
	}
	f, err := outfile.Create(path, 0o666, read)
	if err != nil {
		return nil, &collect.OutputError{Name: path, Err: err}
	}
	return &output{Writer: bufio.NewWriterSize(f, outputBuffer), name: path, file: f, std: std}, nil
}

// writeTo has a function write the output path, as create opens it.
func (std *stdio) writeTo(path string, inputs []string, write func(*output) error) error {
	out, err := std.create(path, inputs)
	if err != nil {
		return err
	}
	return out.end(write(out))
}

// Write writes p; the error names the output.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	return n, collect.OutputFailed(o.name, err)
}

// WriteString writes s; the error names the output.
func (o *output) WriteString(s string) (int, error) {
	n, err := o.Writer.WriteString(s)
	return n, collect.OutputFailed(o.name, err)
}

// Flush writes the buffered output; the error names the output.
func (o *output) Flush() error { return collect.OutputFailed(o.name, o.Writer.Flush()) }

// end ends the output of work that may have failed, with err. A file that was there
// before is replaced only if it has not.
func (o *output) end(err error) error {
	failed := o.Writer.Flush()
	if o.paged != nil {
		failed = cmp.Or(failed, o.paged.endPaging())
	}
	if o.file != nil {
		if err == nil && failed == nil {
			failed = o.file.Commit()
			if why := o.file.InPlace(); why != "" {
				o.std.warn(o.name, "overwritten in place, because "+why)
			}
		}
		failed = errors.Join(failed, o.file.Close())
	}
	return errors.Join(err, collect.OutputFailed(o.name, failed))
}

// newPage makes a page for out, that fits its terminal.
func newPage(std *stdio, out *output) *text.Page {
	if out.file != nil {
		return text.PageOn(text.Terminal{})
	}
	std.paged(out)
	return text.PageOn(std.outTerm)
}

// writePage writes a page for people, which fits the terminal of an output.
func (std *stdio) writePage(out *output, write func(*text.Page)) error {
	return out.page(newPage(std, out), write)
}

// writePageTo writes such a page to the output path.
func (std *stdio) writePageTo(path string, inputs []string, write func(*text.Page)) error {
	return std.writeTo(path, inputs, func(out *output) error { return std.writePage(out, write) })
}

// writeMarkdown writes a page of Markdown, for which no terminal is too narrow.
func writeMarkdown(out *output, write func(*text.Page)) error {
	return out.page(text.PageOn(text.Terminal{}), write)
}

func (o *output) page(p *text.Page, write func(*text.Page)) error {
	write(p)
	_, err := o.Write(p.Bytes())
	return err
}

// warn writes a line that is not a failure.
func (std *stdio) warn(name, words string) {
	if words != "" {
		_ = std.err.Line("%s: %s", name, words) // there is no other output
	}
}
