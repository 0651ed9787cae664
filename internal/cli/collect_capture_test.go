package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// listen starts a runtime, and returns its process.
func listen(t *testing.T, f *dotnettest.Runtime) *diag.Process {
	t.Helper()
	return &diag.Process{PID: 42, Name: "web", Address: f.Listen(t)}
}

// gather collects from a process until its trace ends or ctx is done.
func (o *collectOptions) gather(ctx context.Context, std *stdio, process *diag.Process) error {
	config, _ := o.request().Config()
	return o.gatherWith(ctx, std, process, config, (&collect.Stop{Files: 1}).Plan())
}

func (o *collectOptions) gatherWith(ctx context.Context, std *stdio, process *diag.Process, config diag.Config, plan *collect.Plan) error {
	talk := &collectTalk{std: std, line: &progress{}, target: o.again(nil)}
	collect.New(o.options(std, config, plan, talk.notify)).Gather(ctx, []*diag.Process{process}, nil)
	return talk.finish(nil)
}

// captured collects from a runtime to a file, until ctx is done or the trace
// ends.
func captured(ctx context.Context, t *testing.T, f *dotnettest.Runtime) (file []byte, said string) {
	t.Helper()
	var talk bytes.Buffer
	o := newCollectOptions()
	o.output = filepath.Join(t.TempDir(), "web.nettrace")
	if err := o.gather(ctx, &stdio{out: io.Discard, err: text.NewPrinter(&talk)}, listen(t, f)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(o.output)
	if err != nil {
		t.Fatal(err)
	}
	return b, talk.String()
}

func webBytes(t *testing.T) []byte {
	t.Helper()
	return tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
}

// TestCaptureStopped: an interrupted collection still reads the trace to its end.
func TestCaptureStopped(t *testing.T) {
	trace := webBytes(t)
	f := dotnettest.NewRuntime(trace[:len(trace)/2], trace[len(trace)/2:])
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	go func() {
		<-f.Began
		interrupt()
	}()
	file, said := captured(ctx, t, f)
	if !bytes.Equal(file, trace) || !f.Stopped() {
		t.Errorf("%d bytes of %d, stopped %t", len(file), len(trace), f.Stopped())
	}
	for _, want := range []string{"collecting from web 42", "Pauses took", "Collections", "$ gctrail "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

// TestCaptureLeadsOn: where the program pauses for too long, the next command leads to
// the code that allocates.
func TestCaptureLeadsOn(t *testing.T) {
	trace := webBytes(t)
	for profile, want := range map[string]string{
		"gc-collect": "To record the code that allocates:\n  $ gctrail collect --profile gc-alloc -p 42\n",
		"gc-verbose": "To record the code that allocates:\n  $ gctrail collect --profile gc-alloc -p 42\n",
		"gc-alloc":   "To see the code that allocates:\n  $ gctrail allocs --by type,stack ",
	} {
		var talk bytes.Buffer
		o := newCollectOptions()
		o.output, o.PIDs, o.profiles.values = filepath.Join(t.TempDir(), "web.nettrace"), []int{42}, []string{profile}
		std := &stdio{out: io.Discard, err: text.NewPrinter(&talk)}
		if err := o.gather(context.Background(), std, listen(t, dotnettest.NewRuntime(trace, nil))); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(talk.String(), want) {
			t.Errorf("%s: %q is not said:\n%s", profile, want, talk.String())
		}
	}
}

// TestTarget: the target of a trace is spelt as it was given.
func TestTarget(t *testing.T) {
	for _, c := range []struct {
		options collectOptions
		command []string
		want    []string // words, which are quoted as the system's shell demands
	}{
		{collectOptions{Target: collect.Target{PIDs: []int{7, 8}}}, nil, []string{"-p", "7,8"}},
		{collectOptions{Target: collect.Target{Names: collect.Names{"web*", "api"}}}, []string{"./run all", "-x"}, []string{"-n", "web*,api", "--", "./run all", "-x"}},
		{collectOptions{Target: collect.Target{Port: diag.Port{Path: "/tmp/port", Connect: true}}}, nil, []string{"--diagnostic-port", "/tmp/port,connect"}},
		{collectOptions{Target: collect.Target{PIDs: []int{7}}, duration: 90 * time.Second}, nil, []string{"-p", "7", "--duration", "1m30s"}},
		{collectOptions{duration: time.Second}, []string{"./run"}, []string{"--duration", "1s", "--", "./run"}},
		{collectOptions{etw: true, duration: time.Second}, nil, nil},
	} {
		for i, word := range c.want {
			c.want[i] = text.Quoted(word)
		}
		if got, want := c.options.again(c.command), strings.Join(c.want, " "); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// TestCaptureCut: whatever came of a trace when its process was killed, the file
// is whole.
func TestCaptureCut(t *testing.T) {
	trace := webBytes(t)
	for _, size := range []int{200, 5000, len(trace) / 2, len(trace) - 1} {
		f := dotnettest.NewRuntime(trace[:size], nil)
		file, said := captured(context.Background(), t, f)
		dotnettest.MustEnd(t, file)
		if n := len(file) - 1; n > size || !bytes.Equal(file[:n], trace[:n]) {
			t.Errorf("%d bytes: the file is no head of the trace", size)
		}
		if !strings.Contains(said, "exited without ending the trace") {
			t.Errorf("%d bytes: %s", size, said)
		}
	}
}

// TestCaptureEnded: a trace that ends by itself is not asked to stop. Where the
// process continues, another tool ended it.
func TestCaptureEnded(t *testing.T) {
	trace := webBytes(t)
	for _, ends := range []bool{false, true} {
		f := dotnettest.NewRuntime(trace, nil)
		f.Ends = ends
		file, said := captured(context.Background(), t, f)
		if !bytes.Equal(file, trace) || f.Stopped() {
			t.Errorf("%d bytes of %d, stopped %t", len(file), len(trace), f.Stopped())
		}
		if strings.Contains(said, "another tool ended the trace") == ends {
			t.Error(said)
		}
	}
}

// toPipe collects from a runtime to standard output.
func toPipe(t *testing.T, std *stdio, f *dotnettest.Runtime) error {
	o := newCollectOptions()
	o.output = "-"
	return o.gather(context.Background(), std, listen(t, f))
}

// TestCapturePipe: a destination that cannot be overwritten has its end mark at the end
// only.
func TestCapturePipe(t *testing.T) {
	trace := webBytes(t)
	var data, talk bytes.Buffer
	if err := toPipe(t, &stdio{out: &data, err: text.NewPrinter(&talk)}, dotnettest.NewRuntime(trace[:len(trace)/2], nil)); err != nil {
		t.Fatal(err)
	}
	if len(dotnettest.MustEnd(t, data.Bytes())) == 0 || strings.Contains(talk.String(), "$ gctrail") {
		t.Error(talk.String())
	}
}

// A closedPipe is a pipe that nobody reads from any more.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestCapturePipeClosed: who reads the trace may have enough, which is not a
// failure.
func TestCapturePipeClosed(t *testing.T) {
	trace := webBytes(t)
	var talk bytes.Buffer
	err := toPipe(t, &stdio{out: closedPipe{}, err: text.NewPrinter(&talk)}, dotnettest.NewRuntime(trace[:len(trace)/2], nil))
	if exitCodeOf(err) != exitDone || strings.Contains(talk.String(), "fail") {
		t.Errorf("%v: %s", err, talk.String())
	}
}

// TestCaptureNoTrace: a stream that is not a trace leaves no file.
func TestCaptureNoTrace(t *testing.T) {
	for _, first := range []string{"", "Nett", "HTTP/1.1 400 Bad Request\r\n\r\n"} {
		o := newCollectOptions()
		o.output = filepath.Join(t.TempDir(), "web.nettrace")
		err := o.gather(context.Background(), &stdio{err: text.NewPrinter(io.Discard)}, listen(t, dotnettest.NewRuntime([]byte(first), nil)))
		if exitCodeOf(err) != exitNoProcess {
			t.Errorf("%q: %v", first, err)
		}
		if _, err := os.Stat(o.output); err == nil {
			t.Errorf("%q: there is a file", first)
		}
	}
}

// TestRefused: exit codes distinguish a runtime that is too old from one that refuses.
func TestRefused(t *testing.T) {
	for refusal, code := range map[diag.HRESULT]int{
		diag.UnknownCommand: exitUnsupported, diag.NotSupported: exitUnsupported, diag.Fail: exitNoProcess,
	} {
		f := dotnettest.NewRuntime(nil, nil)
		f.Refusal = uint32(refusal)
		o := newCollectOptions()
		o.output = filepath.Join(t.TempDir(), "web.nettrace")
		if err := o.gather(context.Background(), &stdio{err: text.NewPrinter(io.Discard)}, listen(t, f)); exitCodeOf(err) != code {
			t.Errorf("%v: exit code %d, want %d", err, exitCodeOf(err), code)
		}
	}
}
