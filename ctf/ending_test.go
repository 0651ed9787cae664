package ctf_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// TestEndings reads traces of two streams. LTTng ends the packets of all streams when a session
// stops: one that ends before an event of the other lacks its last packets.
func TestEndings(t *testing.T) {
	const text = `trace
env domain=ust tracer_name=lttng-ust
clock seconds=1700000000
stream 0 context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
file c_0
packet begin=10 end=20 seq=0
  ev 0 time=11 context=[1 1] 1 0 0
packet begin=20 end=32 seq=1
  ev 0 time=29 context=[1 1] 2 0 0
packet begin=32 end=34 seq=2
file c_1
packet begin=10 end=20 seq=0 cpu=1 instance=1
  ev 0 time=12 context=[1 1] 3 0 0
`
	const rest = `packet begin=20 end=30 seq=1 cpu=1 instance=1
`
	for _, c := range []struct {
		name, text string
		want       []trace.Range
	}{
		{"whole", text + rest, nil},
		{"cut", text, []trace.Range{{From: 9, To: 18}}},
		{"cut, with an event from after the end", text + strings.Replace(rest, "end=30", "end=25", 1), []trace.Range{{From: 14, To: 18}}},
		{"cut, and the other file is cut too", text + "cut", []trace.Range{{From: 9, To: 18}}},
		{"of another tracer", strings.Replace(text, "lttng-ust", "other", 1), nil},
	} {
		text, cut := strings.CutSuffix(c.text, "cut")
		files := assemble(t, text)
		if cut {
			files["c_0"].Data = files["c_0"].Data[:len(files["c_0"].Data)-1]
		}
		got := read(t, files)
		want := trace.Exact
		if c.want != nil {
			want = trace.LowerBound
		}
		if ranges := got.loss.Ranges(); got.err != nil || len(ranges) != len(c.want) || len(ranges) > 0 && ranges[0] != c.want[0] || got.loss.Exactness != want {
			t.Errorf("%s: %v, lost at %v, %v; want %v, %v", c.name, got.err, ranges, got.loss.Exactness, c.want, want)
		}
		if got.last != 18*time.Nanosecond {
			t.Errorf("%s: %v long", c.name, got.last)
		}
	}
}
