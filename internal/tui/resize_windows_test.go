package tui

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/gctrail/gctrail/internal/hosttest"
)

// A tee is a console that records the output since it was cleared.
type tee struct {
	*os.File
	wrote chan struct{} // has an item when there was output since the last receive
	mu    sync.Mutex
	drawn []byte
}

func (t *tee) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.drawn = append(t.drawn, p...)
	if i := bytes.LastIndex(t.drawn, []byte("\x1b[2J")); i > 0 {
		t.drawn = t.drawn[i:]
	}
	t.mu.Unlock()
	select {
	case t.wrote <- struct{}{}:
	default:
	}
	return t.File.Write(p)
}

// letters returns the letters that are on the console.
func (t *tee) letters() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return letters(string(t.drawn))
}

// control is an escape sequence that moves the cursor, or sets a mode or a title.
var control = regexp.MustCompile(`\x1b(\[[0-9;?]*[a-zA-Z]|\][^\a]*\a|[=>])`)

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, control.ReplaceAllString(s, ""))
}

// TestResize resizes the screen's console: as a user does, then only its window, which
// consoles need not report, or only its buffer, which is not visible.
func TestResize(t *testing.T) {
	hosttest.OnConsole(t, 100, 30, func(c *hosttest.Console) {
		out := &tee{File: c.Out, wrote: make(chan struct{}, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		drawn := func(width, height int) {
			want := letters(shown(t, width, height).View().Content)
			begun, late := time.Now(), time.After(3*time.Second)
			for out.letters() != want {
				select {
				case <-out.wrote:
				case <-late:
					t.Errorf("%d by %d: got\n%s\nwant\n%s", width, height, out.letters(), want)
					return
				}
			}
			t.Logf("%d by %d: drawn after %v", width, height, time.Since(begun))
		}
		opts := shown(t, 100, 30).opts
		opts.WindowSize = c.Window
		err := run(ctx, opts, func(context.Context) {
			drawn(100, 30)
			for _, size := range [][2]int{{70, 20}, {130, 40}, {130, 12}, {60, 30}} {
				if err := c.Resize(size[0], size[1]); err != nil {
					t.Error(err)
				}
				drawn(size[0], size[1])
			}
			for _, resize := range []struct {
				part          func(width, height int) error
				width, height int
			}{{c.ResizeWindow, 60, 15}, {c.ResizeWindow, 60, 25}, {c.ResizeBuffer, 60, 50}} {
				if err := resize.part(resize.width, resize.height); err != nil {
					t.Error(err)
				}
				drawn(c.Window())
			}
			width, height := c.Window()
			want := letters(shown(t, width, height).View().Content)
			for settled := time.After(300 * time.Millisecond); ; {
				if got := out.letters(); len(got) > len(want) {
					t.Errorf("more is drawn than the window holds: got\n%s\nwant\n%s", got, want)
					return
				}
				select {
				case <-out.wrote:
				case <-settled:
					return
				}
			}
		}, tea.WithOutput(out))
		if err != nil {
			t.Error(err)
		}
	})
}
