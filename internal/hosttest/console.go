//go:build windows

package hosttest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Console is the console of the process that a test runs in.
type Console struct {
	In, Out *os.File

	requests *os.File // to the process that made the console
	answers  *bufio.Reader
}

const (
	// marker is the variable with the name of the test that a process runs.
	marker = "GCTRAIL_CONSOLE_TEST"
	begun  = "on the console: " // is the first report of that process
	limit  = time.Minute
)

// OnConsole runs a test in another process, on a pseudo console of a size. The console is the
// standard input and output of that process, which runs the calling test only.
func OnConsole(t *testing.T, width, height int, test func(*Console)) {
	t.Helper()
	if os.Getenv(marker) == t.Name() {
		test(attach(t))
		return
	}
	t.Setenv(marker, t.Name())
	p := newPseudoConsole(t, size(width, height))
	code, err := p.run(fmt.Sprintf(`"%s" -test.run=^%s$ -test.timeout=%v`, os.Args[0], t.Name(), limit))
	said := p.close(t)
	if err != nil || code != 0 || !strings.HasPrefix(said, begun) {
		t.Errorf("exit code %d, %v\n%s", code, err, said)
	}
}

// attach makes the console the standard input and output of this process. Reports of the
// test go to its previous output.
func attach(t *testing.T) *Console {
	t.Helper()
	open := func(name string, standard uint32) *os.File {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err == nil {
			err = windows.SetStdHandle(standard, windows.Handle(f.Fd()))
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	c := &Console{requests: os.Stderr, answers: bufio.NewReader(os.Stdin)}
	c.In, c.Out = open("CONIN$", windows.STD_INPUT_HANDLE), open("CONOUT$", windows.STD_OUTPUT_HANDLE)
	fmt.Fprintln(os.Stdout, begun+t.Name())
	os.Stdin, os.Stdout = c.In, c.Out
	return c
}

// Resize changes the console's size, as a user does. If its owner cannot, as under Wine
// 8, this process does.
func (c *Console) Resize(width, height int) error {
	fmt.Fprintf(c.requests, resize, width, height)
	answer, err := c.answers.ReadString('\n')
	if err != nil || answer == done {
		return err
	}
	// The window cannot be larger than the buffer.
	now, err := c.size()
	if err != nil {
		return err
	}
	next := size(width, height)
	both := windows.Coord{X: min(now.X, next.X), Y: min(now.Y, next.Y)}
	return errors.Join(c.setWindow(both), c.setBuffer(next), c.setWindow(next))
}

// ResizeWindow gives the window of the console another size, at most that of its buffer.
func (c *Console) ResizeWindow(width, height int) error { return c.setWindow(size(width, height)) }

// ResizeBuffer gives the buffer of the console another size, at least that of its window.
func (c *Console) ResizeBuffer(width, height int) error { return c.setBuffer(size(width, height)) }

// Window returns the size of the console's window.
func (c *Console) Window() (width, height int) {
	var info windows.ConsoleScreenBufferInfo
	_ = windows.GetConsoleScreenBufferInfo(windows.Handle(c.Out.Fd()), &info)
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}

func (c *Console) size() (windows.Coord, error) {
	var info windows.ConsoleScreenBufferInfo
	err := windows.GetConsoleScreenBufferInfo(windows.Handle(c.Out.Fd()), &info)
	return info.Size, err
}

func size(width, height int) windows.Coord { return windows.Coord{X: int16(width), Y: int16(height)} }

var (
	kernel32                   = windows.NewLazySystemDLL("kernel32.dll")
	setConsoleWindowInfo       = kernel32.NewProc("SetConsoleWindowInfo")
	setConsoleScreenBufferSize = kernel32.NewProc("SetConsoleScreenBufferSize")
)

func (c *Console) setWindow(size windows.Coord) error {
	window := windows.SmallRect{Right: size.X - 1, Bottom: size.Y - 1}
	return failed(setConsoleWindowInfo.Call(c.Out.Fd(), 1, uintptr(unsafe.Pointer(&window))))
}

func (c *Console) setBuffer(size windows.Coord) error {
	return failed(setConsoleScreenBufferSize.Call(c.Out.Fd(), uintptr(uint16(size.X))|uintptr(uint16(size.Y))<<16))
}

func failed(done, _ uintptr, err error) error {
	if done != 0 {
		return nil
	}
	return err
}
