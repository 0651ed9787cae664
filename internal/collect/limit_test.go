package collect

import (
	"bytes"
	"context"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/nettrace"
)

// counted reads a trace, and returns how many events of each provider it has.
func counted(t *testing.T, data []byte) (*nettrace.Reader, map[string]int) {
	t.Helper()
	r, of := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{}), map[string]int{}
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		of[ev.Desc.Provider]++
	}
	return r, of
}

// TestCaptureLimit has a runtime raise events long after the requested time: they are not
// in the file, but the events at the end of a trace are.
func TestCaptureLimit(t *testing.T) {
	whole := webBytes(t)
	full, all := counted(t, whole)
	length := full.Info().Last / 3
	f := dotnettest.NewRuntime(whole[:len(whole)-10], whole[len(whole)-10:])
	process, session := capturing(t, f)
	disk := &smallDisk{room: len(whole)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-f.Began
		cancel()
	}()
	c := newCapture(process, session, FileOn(disk, "web.nettrace"))
	c.limit(length)
	if err := c.run(ctx); err != nil {
		t.Fatal(err)
	}
	got, part := counted(t, disk.data)
	if last := got.Info().Last; last > length || last < length/2 {
		t.Errorf("%v, want %v", last, length)
	}
	if l := got.Loss(); l.Events > 0 || l.Damaged > 0 || l.Truncated {
		t.Errorf("%+v", l)
	}
	if n := part[clr.RuntimeProvider]; n == 0 || n > all[clr.RuntimeProvider]/2 {
		t.Errorf("%d of %d events of the runtime", n, all[clr.RuntimeProvider])
	}
	for _, name := range []string{clr.RundownProvider, clr.EventPipeProvider} {
		if part[name] == 0 || part[name] != all[name] {
			t.Errorf("%d of %d events of %s", part[name], all[name], name)
		}
	}
}
