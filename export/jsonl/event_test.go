package jsonl_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/trace"
)

var (
	gcEnd   = &trace.Descriptor{Provider: "Microsoft-Windows-DotNETRuntime", ID: 2, Version: 1, Level: 4, Keywords: 1}
	strange = &trace.Descriptor{Provider: "My\"Own", ID: 85, Keywords: 1<<64 - 1}
)

func events() []*trace.Event {
	clock := &trace.Clock{Frequency: 1e9}
	end := &trace.Event{
		Desc: gcEnd, Ticks: 19_022_732, Clock: clock, PID: 1, TID: 1<<64 - 2, CPU: 3, PointerSize: 8,
		Payload: []byte{3, 0, 0, 0, 2, 0, 0, 0, 9, 0},
	}
	end.SetStack([]byte{1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0}, 8)
	other := &trace.Event{
		Desc: strange, Ticks: 2_000_000_001, Clock: clock, PID: 1, TID: trace.UnknownID, CPU: trace.UnknownCPU, PointerSize: 8,
		Payload: []byte{0xff, 0},
	}
	early := &trace.Event{Desc: strange, Ticks: -1_000_000, Clock: clock, CPU: trace.UnknownCPU, PointerSize: 8}
	return []*trace.Event{end, other, early}
}

func TestAppendEvent(t *testing.T) {
	want := []string{
		`{"time_ms":19.022732,"time":"2026-11-20T23:56:38.142479521Z","provider":"Microsoft-Windows-DotNETRuntime","id":2,"version":1,` +
			`"name":"GCEnd","opcode":2,"level":4,"keywords":1,"pid":1,"tid":18446744073709551614,"cpu":3,` +
			`"fields":{"Count":3,"Depth":2,"ClrInstanceID":9},"stack":[9223372036854775809,2]}` + "\n",
		`{"time_ms":2000.000001,"time":"2026-11-20T23:56:40.123456790Z","provider":"My\"Own","id":85,"version":0,` +
			`"name":"EventID(85)","opcode":0,"level":0,"keywords":18446744073709551615,"pid":1,"tid":null,"cpu":null,"payload":"/wA="}` + "\n",
		`{"time_ms":-1,"time":"2026-11-20T23:56:38.122456789Z","provider":"My\"Own","id":85,"version":0,` +
			`"name":"EventID(85)","opcode":0,"level":0,"keywords":18446744073709551615,"pid":0,"tid":0,"cpu":null,"fields":{}}` + "\n",
	}
	e := jsonl.Events{Start: start}
	for i, ev := range events() {
		line := e.AppendEvent(nil, ev)
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
		if diff := cmp.Diff(want[i], string(line)); diff != "" {
			t.Error(diff)
		}
	}
}

// Times are right whichever event came before.
func TestEventTimes(t *testing.T) {
	ev := events()[0]
	e := jsonl.Events{Start: start}
	for _, ticks := range []int64{0, 876_543_210, 876_543_211, 5e9, -124e6, 0, 86400e9} {
		ev.Ticks = ticks
		var got struct{ Time time.Time }
		parse(t, e.AppendEvent(nil, ev), &got)
		if want := start.Add(time.Duration(ticks)); !got.Time.Equal(want) {
			t.Errorf("%d ns after the start: %v, want %v", ticks, got.Time, want)
		}
	}
}

func TestAppendEventAllocatesNothing(t *testing.T) {
	e := jsonl.Events{Start: start}
	evs := events()
	var dst []byte
	all := func() {
		for _, ev := range evs {
			dst = e.AppendEvent(dst[:0], ev)
		}
	}
	if n := testing.AllocsPerRun(100, all); n != 0 {
		t.Errorf("%v allocations for %d events", n, len(evs))
	}
}

// Milliseconds have the shortest digits that read back as the same number, however they are
// found.
func TestEventMillis(t *testing.T) {
	e := jsonl.Events{Start: start}
	for _, frequency := range []int64{1e9, 1e7} {
		for _, ticks := range []int64{0, 1, -1, 999_999, 1_000_000, -1_500_000, 1<<53/1000 - 1, 1 << 53 / 1000, -1 << 53 / 1000, 1<<53 + 1, 1 << 62} {
			ev := &trace.Event{Desc: strange, Ticks: ticks, Clock: &trace.Clock{Frequency: frequency}, PointerSize: 8}
			want := strconv.FormatFloat(ev.Millis(), 'f', -1, 64)
			if line := string(e.AppendEvent(nil, ev)); !strings.HasPrefix(line, `{"time_ms":`+want+",") {
				t.Errorf("%d ticks of 1/%d s: no %s in %s", ticks, frequency, want, line)
			}
		}
	}
}

func BenchmarkAppendEvent(b *testing.B) {
	e := jsonl.Events{Start: start}
	ev := events()[0]
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = e.AppendEvent(dst[:0], ev)
	}
	b.SetBytes(int64(len(dst)))
}
