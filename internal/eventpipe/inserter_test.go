package eventpipe_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

var inserted = [...]*trace.Descriptor{
	{Provider: "other", ID: 1, Name: "One", Level: 4, Fields: []trace.Field{{Name: "N", Type: trace.Uint32}}},
	{Provider: "other", ID: 2, Name: "Two", Level: 4, Fields: []trace.Field{{Name: "S", Type: trace.UTF16String}}},
}

// A dripping reader returns a few bytes at a time, and has an event inserted every now and
// then, at the time of the bytes read.
type dripping struct {
	data  []byte
	size  int // of the whole
	chunk int
	info  *trace.Info
	to    *eventpipe.Inserter
	added int
	rand  *rand.Rand
}

func (d *dripping) Read(p []byte) (int, error) {
	if len(d.data) == 0 {
		return 0, io.EOF
	}
	if d.rand.IntN(3) == 0 {
		part := time.Duration(float64(d.info.Last) * float64(d.size-len(d.data)) / float64(d.size))
		d.to.Add(inserted[d.added%2], d.info.Start.Add(part), []byte{byte(d.added), 0, 0, 0}[:2+2*(1-d.added%2)])
		d.added++
	}
	n := copy(p, d.data[:min(len(d.data), 1+d.rand.IntN(d.chunk))])
	d.data = d.data[n:]
	return n, nil
}

// events returns the events of a trace, the inserted ones separately, and checks that none
// is lost, damaged or out of order.
func events(t *testing.T, data []byte) (own []seen, others int, info *trace.Info) {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{})
	last := time.Duration(-1 << 62)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Late || ev.Time() < last {
			t.Fatalf("an event at %v after one at %v", ev.Time(), last)
		}
		last = ev.Time()
		if ev.Desc.Provider == inserted[0].Provider {
			others++
			if ev.TID != trace.UnknownID || ev.CPU != trace.UnknownCPU {
				t.Fatalf("thread %d, processor %d", ev.TID, ev.CPU)
			}
			continue
		}
		own = append(own, seen{desc: ev.Desc.Name, when: int64(last), tid: ev.TID, payload: string(ev.Payload)})
	}
	if l := r.Loss(); l.Events > 0 || l.Damaged > 0 || l.Late > 0 {
		t.Fatalf("%+v", l)
	}
	return own, others, r.Info()
}

// TestInserter adds events to traces of runtimes: the trace's own objects are unchanged,
// byte for byte, and every reader finds all events.
func TestInserter(t *testing.T) {
	for _, name := range []string{"net10-wks-web-collect.nettrace.gz", "net8-srv-background.nettrace.gz", "net10-wks-pressure-collect.nettrace.gz"} {
		for _, chunk := range []int{300, 64 << 10} {
			whole := tracetest.Gunzip(t, "../../testdata/"+name)
			want, _, info := events(t, whole)
			d := &dripping{data: whole, size: len(whole), chunk: chunk, info: info, rand: rand.New(rand.NewPCG(1, 2))}
			d.to = eventpipe.NewInserter(d)
			out, err := io.ReadAll(d.to)
			if err != nil {
				t.Fatal(err)
			}
			got, others, _ := events(t, out)
			if len(got) != len(want) {
				t.Fatalf("%s: %d events, want %d", name, len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s: event %d is %v, want %v", name, i, got[i], want[i])
				}
			}
			if others < d.added/3 || others > d.added {
				t.Errorf("%s: %d of %d events were inserted", name, others, d.added)
			}
			if rest := left(whole, out); rest > 0 {
				t.Errorf("%s: %d bytes of the trace are elsewhere", name, rest)
			}
		}
	}
}

// left returns the number of bytes of the trace that are not in the output, in order.
func left(whole, out []byte) int {
	for _, b := range out {
		if len(whole) > 0 && b == whole[0] {
			whole = whole[1:]
		}
	}
	return len(whole)
}

// TestInserterPasses checks that input other than a whole V4 trace comes out unchanged.
func TestInserterPasses(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 0x40
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("this is no trace, but quite long for a head"), "V6": []byte("Nettrace\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"),
		"head": whole[:20], "cut": whole[:len(whole)/3], "damaged": damaged,
	} {
		out, err := io.ReadAll(eventpipe.NewInserter(iotest.HalfReader(bytes.NewReader(data))))
		if err != nil || !bytes.Equal(out, data) {
			t.Errorf("%s: %v, %d bytes of %d", name, err, len(out), len(data))
		}
	}
	n := eventpipe.NewInserter(iotest.TimeoutReader(bytes.NewReader(whole)))
	if _, err := io.ReadAll(n); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("the input's error became %v", err)
	}
}
