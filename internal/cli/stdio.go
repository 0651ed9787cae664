package cli

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
)

// A stdio is what a command talks to: data goes to out, talk to err.
type stdio struct {
	out              io.Writer // for data, which is written by an exporter or as a page
	err              *text.Printer
	outTerm, errTerm text.Terminal

	showing *progress // of the trace being read
}

func newStdio() *stdio {
	return &stdio{
		out: os.Stdout, outTerm: terminalOf(os.Stdout),
		err: text.NewPrinter(os.Stderr), errTerm: terminalOf(os.Stderr),
	}
}

// terminalOf looks at what f is, and at the environment: COLUMNS, NO_COLOR,
// CLICOLOR_FORCE and TERM=dumb.
func terminalOf(f *os.File) text.Terminal {
	var t text.Terminal
	dumb := os.Getenv("TERM") == "dumb"
	if term.IsTerminal(int(f.Fd())) {
		t.Is = !dumb
		t.Width, _, _ = term.GetSize(int(f.Fd()))
		t.Width = cmp.Or(columnsAsked(), t.Width)
	}
	forced := os.Getenv("CLICOLOR_FORCE")
	t.Colour = os.Getenv("NO_COLOR") == "" && (t.Is || forced != "" && forced != "0")
	return t
}

// columnsAsked is the width that COLUMNS asks for, 0 for none.
func columnsAsked() int {
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
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
	name string
	file *os.File // nil for standard output
}

// create opens the output path; "-" is standard output. Output does not replace
// what is read: an input, a part of one, or the file that standard input is.
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
	return &output{Writer: bufio.NewWriterSize(f, outputBuffer), name: path, file: f}, nil
}

// Write writes p; the error names the output.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	return n, outputFailed(o.name, err)
}

// Flush writes what is still buffered; the error names the output.
func (o *output) Flush() error { return outputFailed(o.name, o.Writer.Flush()) }

// Close flushes the output and ends it.
func (o *output) Close() error {
	err := o.Writer.Flush()
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	return outputFailed(o.name, err)
}

// outputFailed is the *collect.OutputError for err, if there is one.
func outputFailed(name string, err error) error {
	if err == nil {
		return nil
	}
	return &collect.OutputError{Name: name, Err: err}
}

// newPage makes a page for out, that fits its terminal.
func newPage(std *stdio, out *output) *text.Page {
	if out.file != nil {
		return text.PageOn(text.Terminal{})
	}
	return text.PageOn(std.outTerm)
}

// warn writes a line that is no failure.
func (std *stdio) warn(name, words string) {
	if words != "" {
		_ = std.err.Line("%s: %s", name, words) // there is nobody else to tell
	}
}
