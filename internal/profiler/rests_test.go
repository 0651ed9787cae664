package profiler

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// raise raises samples, each of an object of 1 MiB, at a steady rate until ctx ends.
func raise(ctx context.Context, p *emit.Provider, perSecond float64, raised *atomic.Int64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	thread, began := p.NewThread(), time.Now()
	sample := &clr.AllocationSampled{ObjectSize: 1 << 20, TypeName: clr.NewUTF16("A")}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int64(time.Since(began).Seconds() * perSecond); raised.Load() < due; raised.Add(1) {
			thread.Raise(sample)
		}
	}
}

// A raiser is a runtime that raises the events of a provider in the sessions that sample
// allocations, and none in others.
type raiser struct {
	provider *emit.Provider
	sampled  []bool        // whether each session sampled
	stop     chan struct{} // asks the session to end
}

// serve answers one command.
func (r *raiser) serve(t *testing.T, c net.Conn) {
	const stopTracing = dotnettest.StopTracing & 0xFF
	defer c.Close()
	request := make([]byte, 1<<16)
	n, err := c.Read(request)
	if err != nil {
		t.Error(err)
		return
	}
	stops := request[17] == stopTracing
	samples := bytes.Contains(request[:n], binary.LittleEndian.AppendUint64(nil, wantsSamples))
	if !stops {
		r.sampled = append(r.sampled, samples) // before the answer, after which the next command may come
	}
	dotnettest.Answer(c, dotnettest.OK, make([]byte, 8))
	if stops {
		r.stop <- struct{}{}
		return
	}
	if !samples {
		<-r.stop
		return
	}
	s, err := r.provider.Start(c, emit.SessionOptions{NoRundown: true, Providers: []emit.Wanted{
		{Provider: clr.RuntimeProvider, Keywords: clr.KeywordAllocationSampling, Level: clr.LevelInformational},
	}})
	if err != nil {
		t.Error(err)
		return
	}
	<-r.stop
	_ = s.Close()
}

// wantsSamples has the keywords of a session that samples.
const wantsSamples = clr.KeywordAllocationSampling | clr.KeywordJit | clr.KeywordLoader

// client returns a client of the runtime.
func (r *raiser) client(t *testing.T) *diag.Client {
	return diag.NewClientOver(func(context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		go r.serve(t, far)
		return near, nil
	})
}

// TestRests: of a process that raises four times as many samples as it may, and rests most of
// the time, the profiles have the bytes of all samples. In each rest, a session is asked for that
// does not sample, so that a runtime with other sessions rests, too. The clock is not the
// machine's, so that a busy one makes no difference.
func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, err := emit.NewProvider(emit.ProviderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		problems := 0
		p, err := New(Options{URL: "http://127.0.0.1:1", Problem: func(error) { problems++ }})
		if err != nil {
			t.Fatal(err)
		}
		r := &raiser{provider: provider, stop: make(chan struct{})}
		w := work{
			profiler: p, client: r.client(t), names: newNames(),
			subject: &Subject{Process: &diag.Process{Name: "raiser", Info: &diag.Info{RuntimeVersion: "10.0.0"}}},
		}
		w.sampling.begin(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		var raised atomic.Int64
		ended := make(chan struct{}, 2)
		go func() { raise(ctx, provider, 4*maxEvents, &raised); ended <- struct{}{} }()
		go func() { w.sample(ctx); ended <- struct{}{} }()
		var bytes, until int64 // the latter up to the latest profile: an interval that only rests goes on
		for range 10 {
			time.Sleep(2 * time.Second)
			synctest.Wait() // until what arrives at this time was read
			if i, _ := w.sampling.take(w.names, time.Now()); i != nil {
				until = raised.Load()
				for _, r := range i.Rows {
					bytes += r.Bytes
				}
			}
		}
		got := float64(bytes>>20) / float64(until)
		cancel()
		<-ended
		<-ended
		provider.Close()
		for i, samples := range r.sampled {
			if samples != (i%2 == 0) {
				t.Fatalf("sessions that sample: %v, want every second one", r.sampled)
			}
		}
		rests := p.Stats().Rests
		t.Logf("the profiles have %.3f of %d MB, after %d rests", got, until, rests)
		if got < 0.9 || got > 1.1 || rests < 5 || problems != 1 {
			t.Errorf("the profiles have %.3f of the bytes, after %d rests and %d notices", got, rests, problems)
		}
	})
}
