package text

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestChosenPager(t *testing.T) {
	for _, tt := range []struct{ ours, pager, want string }{
		{"most -s", "more", "most -s"}, {"", "more", ""}, {"cat", "more", ""},
	} {
		t.Setenv("GCTRAIL_PAGER", tt.ours)
		t.Setenv("PAGER", tt.pager)
		if got := ChosenPager(); got != tt.want {
			t.Errorf("GCTRAIL_PAGER=%q PAGER=%q: %q, want %q", tt.ours, tt.pager, got, tt.want)
		}
	}
}

// TestRows counts the rows of a screen: long lines take several, escapes none.
func TestRows(t *testing.T) {
	w := Pager{Width: 10}
	for in, want := range map[string]int{
		"":                               0,
		"a\nb\n":                         2,
		"0123456789\n":                   1,
		"0123456789a\n":                  2,
		"\x1b[31m0123456789\x1b[0m\n":    1,
		"日本語日本\n":                        1,
		"日本語日本語\n":                       2,
		strings.Repeat("x", 95) + "\n\n": 11,
	} {
		if got := w.rowsOf([]byte(in)); got != want {
			t.Errorf("%q: %d rows, want %d", in, got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	for _, program := range []string{"sed", "true"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	long := strings.Repeat("line\n", 10)
	for _, tt := range []struct {
		name, command, in, want string
	}{
		{"short", "sed 's/^/>/'", "line\n", "line\n"},
		{"long", "sed 's/^/>/'", long, strings.ReplaceAll(long, "line", ">line")},
		{"shell", "sed 's/^/>/' | sed 's/$/ </'", long, strings.ReplaceAll(long, "line", ">line <")},
		{"none", "", long, long},
		{"missing", "nosuchpager 'with quotes'", long, long},
	} {
		var out bytes.Buffer
		w := Pager{Out: &out, Width: 80, Height: 5, Command: tt.command}
		for line := range strings.Lines(tt.in) {
			if _, err := w.Write([]byte(line)); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if err := w.Close(); err != nil || out.String() != tt.want {
			t.Errorf("%s: %v: %q, want %q", tt.name, err, out.String(), tt.want)
		}
	}

	w := Pager{Out: &bytes.Buffer{}, Height: 5, Command: "true"}
	var err error
	for range 1 << 16 {
		if _, err = w.Write([]byte(long)); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a pager that ends early: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
