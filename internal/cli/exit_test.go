package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/text"
)

const testTrace = "../../testdata/net10-wks-induced-collect.nettrace.gz"

// failing is an output that takes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestQuietEnds(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		out  io.Writer
		code int
		text string
	}{
		{"interrupted", canceled, io.Discard, exitInterrupted, ""},
		{"reader gone", t.Context(), failing{syscall.EPIPE}, exitDone, ""},
		{
			"disk full", t.Context(),
			failing{syscall.ENOSPC},
			exitUnreadable,
			"gctrail: standard output: no space left on device; redirect it elsewhere\n",
		},
	}
	for _, tt := range tests {
		for _, args := range [][]string{{"gcs", "--format", "jsonl", testTrace}, {"events", testTrace}} {
			var said bytes.Buffer
			std := &stdio{out: tt.out, err: text.NewPrinter(&said)}
			cmd := newRootCmd(std)
			cmd.SetArgs(args)
			code := std.complain(cmd.ExecuteContext(tt.ctx))
			if code != tt.code || said.String() != tt.text {
				t.Errorf("%s, %s: exit code %d, %q; want %d, %q", tt.name, args[0], code, said.String(), tt.code, tt.text)
			}
		}
	}
}

// An output that cannot be written is to be chosen with its own option, and on another disk
// if this one is full.
func TestOutputsInstead(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&collect.OutputError{Name: "a", Err: syscall.ENOSPC}, "make room, or choose another disk with -o"},
		{&collect.OutputError{Name: "a", Err: syscall.EACCES}, "choose another file with -o"},
		{chosenBy("-o", "folder", &collect.OutputError{Name: "a", Err: syscall.EACCES}), "choose another folder with -o"},
		{chosenBy("--init", "file", errors.Join(nil, &collect.OutputError{Name: "a", Err: syscall.ENOSPC})), "choose another disk with --init"},
		{&collect.OutputError{Name: stdoutName, Err: syscall.ENOSPC}, "redirect it elsewhere"},
	} {
		if said := sentence(flatten(c.err)[0]); !strings.HasSuffix(said, c.want) {
			t.Errorf("%q, want %q", said, c.want)
		}
	}
}

func TestComplainTellsEachErrorOnce(t *testing.T) {
	var said bytes.Buffer
	std := &stdio{err: text.NewPrinter(&said)}
	full := &collect.OutputError{Name: "out.csv", Err: syscall.ENOSPC}
	missing := &inputError{"a.nettrace", syscall.ENOENT}
	if code := std.complain(errors.Join(errors.Join(missing, full), full)); code != exitUnreadable {
		t.Errorf("exit code %d", code)
	}
	const want = "gctrail: a.nettrace: no such file or directory; check the path\n" +
		"gctrail: out.csv: no space left on device; make room, or choose another disk with -o\n"
	if said.String() != want {
		t.Errorf("got %q, want %q", said.String(), want)
	}
}

// TestHintAtPath checks that a path that cannot be opened is not taken for a damaged file.
func TestHintAtPath(t *testing.T) {
	_, err := os.Open(strings.Repeat("x", 1000) + "\x01\"<>")
	if err == nil || hint(err) != "check the path" {
		t.Errorf("%v: %q", err, hint(err))
	}
	err = &fs.PathError{Op: "read", Path: "a", Err: syscall.EIO}
	if hint(err) == "check the path" {
		t.Errorf("%v: %q", err, hint(err))
	}
}
