package trial

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"time"

	"github.com/gctrail/gctrail/internal/outfile"
)

// load waits until the program is ready, and runs the load to its end. What the load writes
// goes to a file, and is searched for the amount of work.
func (a *attempt) load(ctx context.Context) error {
	select {
	case <-a.ready:
	case <-time.After(readyTime):
	case <-ctx.Done():
		return ctx.Err()
	}
	file, err := outfile.Create(a.path+".load.out", 0o666, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	a.began = time.Now()
	shell := []string{"sh", "-c", a.Load}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C", a.Load}
	}
	out, errs := a.finder.Stream(), a.finder.Stream()
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.Stdout, cmd.Stderr = tee{file, out}, tee{file, errs}
	cmd.WaitDelay = time.Second
	endGroup(cmd)
	err = cmd.Run()
	out.End()
	errs.End()
	_ = file.Commit()                          // what it wrote is only for people
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Run does not wrap it
		return fmt.Errorf("exit code %d", exit.ExitCode())
	}
	return err
}

// A tee writes to several writers, and fails with none of them, so that the program goes on.
type tee []interface{ Write([]byte) (int, error) }

func (t tee) Write(p []byte) (int, error) {
	for _, w := range t {
		_, _ = w.Write(p) // the program must not notice
	}
	return len(p), nil
}

// readyLines searches the beginning of a program's output for the line that it is ready.
type readyLines struct {
	pattern *regexp.Regexp
	text    []byte
	found   func()
}

// maxReadyText bounds the output that is searched.
const maxReadyText = 1 << 20

func (r *readyLines) Write(p []byte) (int, error) {
	if r.pattern == nil || len(r.text) > maxReadyText {
		return len(p), nil
	}
	r.text = append(r.text, p...)
	if r.pattern.Match(r.text) {
		r.found()
		r.pattern, r.text = nil, nil
	}
	return len(p), nil
}
