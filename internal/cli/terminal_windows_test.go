package cli

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
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
	console := openConsole()
	if console == nil {
		t.Skip("there is no console")
	}
	defer console.Close()
	h := windows.Handle(console.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		t.Skip("there is no console: ", err)
	}
	defer windows.SetConsoleMode(h, mode)
	if err := windows.SetConsoleMode(h, mode&^windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		t.Fatal(err)
	}
	if !obeysEscapes(console) {
		t.Error("the console does not obey escape sequences")
	}
	var after uint32
	if err := windows.GetConsoleMode(h, &after); err != nil || after&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING == 0 {
		t.Errorf("mode %#x, %v", after, err)
	}
}

// openConsole returns the console of this process, which gets one if it has none; nil
// if there is none.
func openConsole() *os.File {
	open := func() *os.File {
		f, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
		if err != nil {
			return nil
		}
		return f
	}
	if f := open(); f != nil {
		return f
	}
	_, _, _ = windows.NewLazySystemDLL("kernel32.dll").NewProc("AllocConsole").Call()
	return open()
}
