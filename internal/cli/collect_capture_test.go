package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/nettracetest"
	"github.com/gctrail/gctrail/internal/tracefile"
	"github.com/gctrail/gctrail/nettrace"
)

const (
	stopTracing   = 0x0201
	processInfo   = 0x0400
	answeredOK    = 0xff00
	answeredError = 0xffff
)

// A fakeRuntime listens at a socket, takes every kind of session, writes the
// first part of a trace, and when it is stopped the rest.
type fakeRuntime struct {
	first, rest []byte
	refusal     uint32        // of sessions, 0 for none
	hangsUp     bool          // after the first part
	ends        bool          // with its trace
	began       chan struct{} // the first part was written

	stop  chan struct{}
	ended chan struct{}
	mu    sync.Mutex
	asked []uint16
}

func newFakeRuntime(first, rest []byte) *fakeRuntime {
	return &fakeRuntime{
		first: first, rest: rest, hangsUp: rest == nil,
		began: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

// listen starts the runtime, and returns its process.
func (f *fakeRuntime) listen(t *testing.T) *diag.Process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake runtime listens at a Unix socket")
	}
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				f.serve(c)
				if f.ends {
					l.Close()
				}
				c.Close()
			}()
		}
	}()
	return &diag.Process{PID: 42, Name: "web", Address: path}
}

func (f *fakeRuntime) serve(c net.Conn) {
	b := make([]byte, 1<<16)
	n, err := c.Read(b)
	if err != nil || n < 20 {
		return
	}
	command := uint16(b[16])<<8 | uint16(b[17])
	f.mu.Lock()
	f.asked = append(f.asked, command)
	f.mu.Unlock()
	switch {
	case command == stopTracing:
		close(f.stop)
		<-f.ended
		answer(c, answeredOK, b[20:28])
	case command == processInfo:
		answer(c, answeredOK, ownInfo())
	case command > processInfo:
		answer(c, answeredError, binary.LittleEndian.AppendUint32(nil, uint32(diag.UnknownCommand)))
	case f.refusal != 0:
		answer(c, answeredError, binary.LittleEndian.AppendUint32(nil, f.refusal))
	default:
		defer close(f.ended)
		answer(c, answeredOK, make([]byte, 8))
		c.Write(f.first)
		close(f.began)
		if !f.hangsUp {
			<-f.stop
			c.Write(f.rest)
		}
	}
}

func answer(w io.Writer, command uint16, payload []byte) {
	b := []byte("DOTNET_IPC_V1\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(20+len(payload)))
	b = append(b, byte(command>>8), byte(command), 0, 0)
	w.Write(append(b, payload...))
}

// ownInfo is what .NET 5 says of this process.
func ownInfo() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(os.Getpid()))
	b = append(b, "a cookie, 16 B.."...)
	for _, s := range []string{"/app/web", "Linux", "x64"} {
		units := utf16.Encode([]rune(s + "\x00"))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
		for _, u := range units {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
	}
	return b
}

func (f *fakeRuntime) wasStopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.asked, stopTracing)
}

// capturing starts a session with the runtime.
func (f *fakeRuntime) capturing(t *testing.T) (*diag.Process, *diag.Session) {
	t.Helper()
	process := f.listen(t)
	config, _ := newCollectOptions().request().Config()
	session, err := process.Client().Collect(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	return process, session
}

// captured collects from the runtime to a file, until ctx is done or the trace
// ends.
func (f *fakeRuntime) captured(ctx context.Context, t *testing.T) (file []byte, said string) {
	t.Helper()
	process, session := f.capturing(t)
	var talk bytes.Buffer
	std := &stdio{out: io.Discard, err: &talk}
	path := filepath.Join(t.TempDir(), "web.nettrace")
	out, err := std.createTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := newCollectOptions().capture(ctx, std, process, session, out); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, talk.String()
}

func webBytes(t *testing.T) []byte {
	t.Helper()
	return nettracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
}

// collectionsIn are the collections in a trace, which was read to its end.
func collectionsIn(t *testing.T, trace []byte) ([]*gc.Collection, *nettrace.Reader) {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(trace), nettrace.Options{Want: gc.Wants})
	var m gc.Model
	var all []*gc.Collection
	for c, err := range m.Collections(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all, r
}

// mustEnd checks that a trace has its end mark and no damage, and returns the
// collections in it.
func mustEnd(t *testing.T, trace []byte) []*gc.Collection {
	t.Helper()
	all, r := collectionsIn(t, trace)
	if size, end := r.Whole(); end != nil || size != int64(len(trace)) || r.Loss().Damaged > 0 {
		t.Errorf("%d of %d bytes are whole, end %v, %d places are damaged", size, len(trace), end, r.Loss().Damaged)
	}
	return all
}

// mustEndFile is mustEnd for a file.
func mustEndFile(t *testing.T, path string) []*gc.Collection {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return mustEnd(t, b)
}

// TestCaptureStopped: what is interrupted is collected to its end.
func TestCaptureStopped(t *testing.T) {
	trace := webBytes(t)
	f := newFakeRuntime(trace[:len(trace)/2], trace[len(trace)/2:])
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	go func() {
		<-f.began
		interrupt()
	}()
	file, said := f.captured(ctx, t)
	if !bytes.Equal(file, trace) || !f.wasStopped() {
		t.Errorf("%d bytes of %d, stopped %t", len(file), len(trace), f.wasStopped())
	}
	for _, want := range []string{"collecting from web 42", "The GC", "collections", "$ gctrail "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

// TestCaptureCut: whatever came of a trace when its process was killed, the file
// is whole.
func TestCaptureCut(t *testing.T) {
	trace := webBytes(t)
	for _, size := range []int{200, 5000, len(trace) / 2, len(trace) - 1} {
		f := newFakeRuntime(trace[:size], nil)
		file, said := f.captured(context.Background(), t)
		mustEnd(t, file)
		if n := len(file) - 1; n > size || !bytes.Equal(file[:n], trace[:n]) {
			t.Errorf("%d bytes: the file is no head of the trace", size)
		}
		if !strings.Contains(said, "ended without ending the trace") {
			t.Errorf("%d bytes: %s", size, said)
		}
	}
}

// TestCaptureEnded: a trace that ends by itself is not asked to stop. Where the
// process goes on, another tool ended it.
func TestCaptureEnded(t *testing.T) {
	trace := webBytes(t)
	for _, ends := range []bool{false, true} {
		f := newFakeRuntime(trace, nil)
		f.ends = ends
		file, said := f.captured(context.Background(), t)
		if !bytes.Equal(file, trace) || f.wasStopped() {
			t.Errorf("%d bytes of %d, stopped %t", len(file), len(trace), f.wasStopped())
		}
		if strings.Contains(said, "another tool ended the trace") == ends {
			t.Error(said)
		}
	}
}

// A brokenInput is a trace whose connection breaks.
type brokenInput struct{ io.Reader }

func (b *brokenInput) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = syscall.EIO
	}
	return n, err
}

func (b *brokenInput) SetReadDeadline(time.Time) error { return nil }

// TestCaptureBroken: a connection that breaks is told of, with the cause.
func TestCaptureBroken(t *testing.T) {
	trace := webBytes(t)
	process, session := newFakeRuntime(trace, nil).capturing(t)
	disk := &smallDisk{room: len(trace)}
	c := newCapture(process, session, tracefile.On(disk, "web.nettrace"))
	c.in = &brokenInput{bytes.NewReader(trace[:len(trace)/2])}
	err := c.run(context.Background())
	if !errors.Is(err, syscall.EIO) || exitCodeOf(err) != exitNoProcess {
		t.Error(err)
	}
	var talk bytes.Buffer
	c.tell(&stdio{err: &talk})
	if len(mustEnd(t, disk.data)) == 0 || !strings.Contains(talk.String(), "the connection broke") {
		t.Error(talk.String())
	}
}

// A smallDisk is a file on a disk with some bytes of room. Of a write that finds
// room in part, it counts nothing, as os.File does.
type smallDisk struct {
	data []byte
	room int
}

func (d *smallDisk) WriteAt(p []byte, off int64) (int, error) {
	fits := max(0, min(len(p), d.room-int(off)))
	d.data = append(d.data[:min(int(off), len(d.data))], p[:fits]...)
	if fits < len(p) {
		return 0, syscall.ENOSPC
	}
	return fits, nil
}

func (d *smallDisk) Seek(int64, int) (int64, error) { return int64(len(d.data)), nil }

func (d *smallDisk) Close() error { return nil }

func (d *smallDisk) Truncate(size int64) error {
	d.data = d.data[:min(len(d.data), int(size))]
	return nil
}

// wholeOf is how much of the first size bytes of a trace is whole.
func wholeOf(trace []byte, size int) int {
	r := nettrace.NewReader(bytes.NewReader(trace[:size]), nettrace.Options{Want: gc.Wants})
	for range r.Events() {
		continue
	}
	whole, _ := r.Whole()
	return int(whole)
}

// TestCaptureFull: when the disk is full, the collecting ends, and the file holds
// whole what finds room in it.
func TestCaptureFull(t *testing.T) {
	trace := webBytes(t)
	const longestMark = 4
	for _, room := range []int{5000, len(trace) / 2, len(trace) - 1} {
		f := newFakeRuntime(trace[:len(trace)-10], trace[len(trace)-10:])
		process, session := f.capturing(t)
		disk := &smallDisk{room: room}
		var talk bytes.Buffer
		out := tracefile.On(disk, "web.nettrace")
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-f.began
			if room == len(trace)-1 {
				cancel()
			}
		}()
		err := newCollectOptions().capture(ctx, &stdio{err: &talk}, process, session, out)
		cancel()
		if !errors.Is(err, syscall.ENOSPC) || exitCodeOf(err) != exitUnreadable || !f.wasStopped() {
			t.Errorf("room for %d: %v, stopped %t", room, err, f.wasStopped())
		}
		mustEnd(t, disk.data)
		if want := wholeOf(trace, room-longestMark) + 1; len(disk.data) != want {
			t.Errorf("room for %d: %d bytes are in it, want %d", room, len(disk.data), want)
		}
		if !strings.Contains(talk.String(), "what was written until then") {
			t.Errorf("room for %d: %s", room, talk.String())
		}
	}
}

// TestCapturePipe: what cannot be overwritten has its end mark at the end only.
func TestCapturePipe(t *testing.T) {
	trace := webBytes(t)
	f := newFakeRuntime(trace[:len(trace)/2], nil)
	process, session := f.capturing(t)
	var data, talk bytes.Buffer
	std := &stdio{out: &data, err: &talk}
	out, err := std.createTrace("-")
	if err != nil {
		t.Fatal(err)
	}
	if err := newCollectOptions().capture(context.Background(), std, process, session, out); err != nil {
		t.Fatal(err)
	}
	if len(mustEnd(t, data.Bytes())) == 0 || strings.Contains(talk.String(), "$ gctrail") {
		t.Error(talk.String())
	}
}

// A closedPipe is one that nobody reads from any more.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestCapturePipeClosed: who reads the trace may have enough, which is no failure.
func TestCapturePipeClosed(t *testing.T) {
	trace := webBytes(t)
	f := newFakeRuntime(trace[:len(trace)/2], nil)
	process, session := f.capturing(t)
	var talk bytes.Buffer
	std := &stdio{out: closedPipe{}, err: &talk}
	out, err := std.createTrace("-")
	if err != nil {
		t.Fatal(err)
	}
	err = newCollectOptions().capture(context.Background(), std, process, session, out)
	if exitCodeOf(err) != exitDone || strings.Contains(talk.String(), "fail") {
		t.Errorf("%v: %s", err, talk.String())
	}
}

// TestCaptureNoTrace: a stream that is no trace leaves no file.
func TestCaptureNoTrace(t *testing.T) {
	for _, first := range []string{"", "Nett", "HTTP/1.1 400 Bad Request\r\n\r\n"} {
		f := newFakeRuntime([]byte(first), nil)
		process, session := f.capturing(t)
		path := filepath.Join(t.TempDir(), "web.nettrace")
		std := &stdio{err: io.Discard}
		out, err := std.createTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		err = newCollectOptions().capture(context.Background(), std, process, session, out)
		if exitCodeOf(err) != exitNoProcess {
			t.Errorf("%q: %v", first, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%q: there is a file", first)
		}
	}
}

// TestRefused: a runtime that is too old is told from one that cannot.
func TestRefused(t *testing.T) {
	for refusal, code := range map[diag.HRESULT]int{
		diag.UnknownCommand: exitUnsupported, diag.NotSupported: exitUnsupported, diag.Fail: exitNoProcess,
	} {
		f := newFakeRuntime(nil, nil)
		f.refusal = uint32(refusal)
		process := f.listen(t)
		config, _ := newCollectOptions().request().Config()
		_, err := process.Client().Collect(context.Background(), config)
		if err = refused(context.Background(), process, err); exitCodeOf(err) != code {
			t.Errorf("%v: exit code %d, want %d", err, exitCodeOf(err), code)
		}
	}
}
