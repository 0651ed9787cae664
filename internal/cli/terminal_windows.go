package cli

import (
	"os"

	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

// obeysEscapes has a console obey escape sequences, which it does not by itself. It
// reports whether it does: consoles before Windows 10 cannot.
func obeysEscapes(f *os.File) bool {
	const needed = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	h := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return mode&needed == needed || windows.SetConsoleMode(h, mode|needed) == nil
}

// windowSize returns the size of the window of the console that standard output is, 0 if
// unknown. It is needed because a console reports a resized window by an event with the
// size of its buffer, which can be larger, or not at all.
func windowSize() (width, height int) {
	width, height, _ = term.GetSize(int(os.Stdout.Fd()))
	return width, height
}
