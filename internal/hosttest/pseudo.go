//go:build windows

package hosttest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The request that a process writes to its standard error to have its console resized,
// and the answer that it reads from its standard input.
const (
	resize = "resize %d %d\n"
	done   = "done\n"
)

// A pseudoConsole is a console without a window, for a process.
type pseudoConsole struct {
	handle windows.Handle
	said   *os.File // the process's reports

	keys, drawn       *os.File // this end of the console
	stdin, stderr     *os.File // of the process
	answers, requests *os.File // this end of them
	ended             chan struct{}
}

func newPseudoConsole(t *testing.T, size windows.Coord) *pseudoConsole {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pseudoConsole{said: said, ended: make(chan struct{}, 2)}
	var in, out *os.File
	for _, pipe := range []struct{ read, write **os.File }{
		{&in, &p.keys}, {&p.drawn, &out}, {&p.stdin, &p.answers}, {&p.requests, &p.stderr},
	} {
		if *pipe.read, *pipe.write, err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
	}
	if err := windows.CreatePseudoConsole(size, windows.Handle(in.Fd()), windows.Handle(out.Fd()), 0, &p.handle); err != nil {
		t.Fatal("CreatePseudoConsole: ", err)
	}
	in.Close()
	out.Close()
	go func() {
		_, _ = io.Copy(io.Discard, p.drawn)
		p.ended <- struct{}{}
	}()
	go p.answer()
	return p
}

// answer executes the process's requests.
func (p *pseudoConsole) answer() {
	lines := bufio.NewScanner(p.requests)
	for lines.Scan() {
		var width, height int
		if n, _ := fmt.Sscanf(lines.Text()+"\n", resize, &width, &height); n != 2 {
			fmt.Fprintln(p.said, lines.Text())
			continue
		}
		answer := done
		if err := windows.ResizePseudoConsole(p.handle, size(width, height)); err != nil {
			answer = err.Error() + "\n"
		}
		_, _ = p.answers.WriteString(answer)
	}
	p.ended <- struct{}{}
}

// close ends the console, and returns the process's reports.
func (p *pseudoConsole) close(t *testing.T) string {
	t.Helper()
	p.stderr.Close()
	windows.ClosePseudoConsole(p.handle)
	<-p.ended
	<-p.ended
	for _, f := range []*os.File{p.keys, p.drawn, p.stdin, p.answers, p.requests, p.said} {
		f.Close()
	}
	said, err := os.ReadFile(p.said.Name())
	if err != nil {
		t.Error(err)
	}
	return string(said)
}

// run runs a command on the console until it ends, and returns its exit code.
func (p *pseudoConsole) run(command string) (uint32, error) {
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return 0, err
	}
	defer attributes.Delete()
	// The attribute is the handle itself, not where it is.
	value := *(*unsafe.Pointer)(unsafe.Pointer(&p.handle))
	if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, value, unsafe.Sizeof(p.handle)); err != nil {
		return 0, err
	}
	info := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	info.Cb, info.Flags = uint32(unsafe.Sizeof(info)), windows.STARTF_USESTDHANDLES
	info.StdInput, info.StdOutput, info.StdErr = windows.Handle(p.stdin.Fd()), windows.Handle(p.said.Fd()), windows.Handle(p.stderr.Fd())
	for _, h := range []windows.Handle{info.StdInput, info.StdOutput, info.StdErr} {
		if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return 0, err
		}
	}
	line, err := windows.UTF16PtrFromString(command)
	if err != nil {
		return 0, err
	}
	var started windows.ProcessInformation
	err = windows.CreateProcess(nil, line, nil, nil, true, windows.EXTENDED_STARTUPINFO_PRESENT, nil, nil, &info.StartupInfo, &started)
	if err != nil {
		return 0, err
	}
	windows.CloseHandle(started.Thread)
	defer windows.CloseHandle(started.Process)
	if _, err := windows.WaitForSingleObject(started.Process, uint32((limit + limit/2).Milliseconds())); err != nil {
		return 0, err
	}
	var code uint32
	return code, windows.GetExitCodeProcess(started.Process, &code)
}
