package cli

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/internal/hosttest"
)

// TestObeysEscapes has a console obey escape sequences that did not.
func TestObeysEscapes(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if obeysEscapes(f) {
		t.Error("a file is no console")
	}
	hosttest.OnConsole(t, 80, 24, func(c *hosttest.Console) {
		h := windows.Handle(c.Out.Fd())
		var mode uint32
		if err := windows.GetConsoleMode(h, &mode); err != nil {
			t.Fatal(err)
		}
		if err := windows.SetConsoleMode(h, mode&^windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
			t.Fatal(err)
		}
		if !obeysEscapes(c.Out) {
			t.Error("the console does not obey escape sequences")
		}
		var after uint32
		if err := windows.GetConsoleMode(h, &after); err != nil || after&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING == 0 {
			t.Errorf("mode %#x, %v", after, err)
		}
	})
}

// TestTerminalOf checks that output is as wide as the console's window, also when that was
// resized.
func TestTerminalOf(t *testing.T) {
	t.Setenv("TERM", "")
	t.Setenv("COLUMNS", "")
	t.Setenv("LINES", "")
	hosttest.OnConsole(t, 90, 20, func(c *hosttest.Console) {
		for _, size := range [][2]int{{90, 20}, {70, 15}, {140, 50}} {
			if err := c.Resize(size[0], size[1]); err != nil {
				t.Error(err)
			}
			if got := terminalOf(os.Stdout); !got.Is || [2]int{got.Width, got.Height} != size {
				t.Errorf("%+v, want %v", got, size)
			}
		}
		if err := c.ResizeWindow(60, 10); err != nil {
			t.Error(err)
		}
		width, height := c.Window()
		if got := terminalOf(os.Stdout); got.Width != width || got.Height != height {
			t.Errorf("%+v, want %d by %d", got, width, height)
		}
		if w, h := windowSize(); w != width || h != height {
			t.Errorf("%d by %d, want %d by %d", w, h, width, height)
		}
	})
}
