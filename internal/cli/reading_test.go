package cli

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/gctrail/gctrail/internal/text"
)

// TestInterruptedPipe: the first Ctrl-C ends the program that writes a trace into
// a pipe; what that still writes is reported on.
func TestInterruptedPipe(t *testing.T) {
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = in
	t.Cleanup(func() {
		os.Stdin = stdin
		in.Close()
	})
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	go func() {
		defer writer.Close()
		_, _ = writer.Write(demoTrace)
	}()
	var out bytes.Buffer
	std := &stdio{out: &out, err: text.NewPrinter(&out)}
	o := newReportOptions()
	o.files = []string{"-"}
	if err := o.run(ctx, std); err != nil || !bytes.Contains(out.Bytes(), []byte("Collections       108")) {
		t.Errorf("%v: %s", err, out.String())
	}
}
