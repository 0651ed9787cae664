package ctf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/trace"
)

// TestAbsent reads traces with missing packets or files: loss is no longer exactly zero.
func TestAbsent(t *testing.T) {
	const text = `trace
clock seconds=1700000000
stream 0 context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
file c_0
packet begin=10 end=20 seq=0
  ev 0 time=11 context=[1 1] 1 0 0
packet begin=20 end=30 seq=1
  ev 0 time=21 2 0 0
file c_1
packet begin=10 end=20 seq=0 cpu=1 instance=1
  ev 0 time=12 3 0 0
packet begin=20 end=30 seq=1 cpu=1 instance=1
  ev 0 time=22 4 0 0
`
	index := func(packets int) *fstest.MapFile { return &fstest.MapFile{Data: packetIndex(packets)} }
	for _, c := range []struct {
		name      string
		change    func(fstest.MapFS)
		exactness trace.Exactness
		ranges    int
		damaged   int
	}{
		{"whole", func(fstest.MapFS) {}, trace.Exact, 0, 0},
		{"with its index", func(f fstest.MapFS) { f["index/c_0.idx"], f["index/c_1.idx"] = index(2), index(2) }, trace.Exact, 0, 0},
		{"the first packet", func(f fstest.MapFS) { f["c_1"].Data = f["c_1"].Data[len(f["c_1"].Data)/2:] }, trace.LowerBound, 1, 0},
		{"an empty file", func(f fstest.MapFS) { f["c_1"].Data = nil }, trace.Unknown, 0, 0},
		{"an empty file with an index", func(f fstest.MapFS) { f["c_1"].Data, f["index/c_1.idx"] = nil, index(2) }, trace.LowerBound, 1, 1},
		{"a file of the last processor, but not its index", func(f fstest.MapFS) { delete(f, "c_1"); f["index/c_1.idx"] = index(2) }, trace.LowerBound, 1, 1},
		{"a file that never had packets", func(f fstest.MapFS) { delete(f, "c_1"); f["index/c_1.idx"] = index(0) }, trace.Exact, 0, 0},
		{"a file whose index is damaged", func(f fstest.MapFS) {
			delete(f, "c_1")
			f["index/c_1.idx"] = index(2)
			f["index/c_1.idx"].Data[12] = 0xff // of the entries' size
		}, trace.Unknown, 0, 0},
		{"a file whose index ends in its header", func(f fstest.MapFS) {
			delete(f, "c_1")
			f["index/c_1.idx"] = &fstest.MapFile{Data: packetIndex(2)[:15]}
		}, trace.Unknown, 0, 0},
		{"the last packet, but not its entry", func(f fstest.MapFS) {
			f["c_1"].Data, f["index/c_1.idx"] = f["c_1"].Data[:len(f["c_1"].Data)/2], index(2)
		}, trace.LowerBound, 1, 0},
		{"a file of the first processor", func(f fstest.MapFS) { delete(f, "c_0") }, trace.Unknown, 0, 0},
	} {
		files := assemble(t, text)
		c.change(files)
		r, err := ctf.Open(files, ctf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if l := r.Loss(); l.Exactness != c.exactness || len(l.Ranges()) != c.ranges || l.Damaged != c.damaged {
			t.Errorf("%s: %v, %v, %d damaged; want %v, %d ranges, %d damaged", c.name, l.Exactness, l.Ranges(), l.Damaged, c.exactness, c.ranges, c.damaged)
		}
	}
}

// TestProcessors reads traces with files of some processors: LTTng makes files for all
// that a machine has, so that a single one, or fewer than another trace of the machine
// has, may not be all.
func TestProcessors(t *testing.T) {
	const lttng = "tracer_name=lttng-ust hostname=vm"
	of := func(env string, cpus ...int) string {
		text := "trace uuid=" + fmt.Sprint(len(env)) + " dir=" + strings.Fields(env)[0] + "\nenv domain=" + env + `
clock seconds=1700000000
stream 0 context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
`
		for _, cpu := range cpus {
			text += fmt.Sprintf("file c_%d\npacket begin=10 end=20 seq=0 cpu=%[1]d instance=%[1]d\n  ev 0 time=%d context=[1 1] 1 0 0\n", cpu, 11+cpu)
		}
		return text
	}
	kernel := "kernel tracer_name=lttng-modules hostname=vm"
	for name, c := range map[string]struct {
		text      string
		exactness trace.Exactness
		missing   bool
	}{
		"two":                          {of("ust "+lttng, 0, 1), trace.Exact, false},
		"one":                          {of("ust "+lttng, 0), trace.Unknown, true},
		"one, of another tracer":       {of("ust tracer_name=other", 0), trace.Exact, false},
		"one, like the kernel":         {of("ust "+lttng, 0) + of(kernel, 0), trace.Exact, false},
		"one, the kernel has two":      {of("ust "+lttng, 0) + of(kernel, 0, 1), trace.Unknown, true},
		"two, the kernel has one":      {of("ust "+lttng, 0, 1) + of(kernel, 0), trace.Exact, false},
		"two, the kernel has four":     {of("ust "+lttng, 0, 1) + of(kernel, 0, 1, 2, 3), trace.Unknown, true},
		"one, another machine has two": {of("ust "+lttng, 0) + of("other tracer_name=lttng-ust hostname=b", 0, 1), trace.Unknown, true},
		"three":                        {of("ust "+lttng, 0, 1, 2), trace.Unknown, false},
		"three, without the second":    {of("ust "+lttng, 0, 2), trace.Unknown, true},
	} {
		got := read(t, assemble(t, c.text))
		if got.err != nil || got.loss.Exactness != c.exactness || got.loss.StreamsUnknown != c.missing {
			t.Errorf("%s: %v, %v, streams unknown %v; want %v, %v", name, got.err, got.loss.Exactness, got.loss.StreamsUnknown, c.exactness, c.missing)
		}
	}
	files := assemble(t, of("ust "+lttng, 0))
	files["ust/index/c_1.idx"] = &fstest.MapFile{Data: packetIndex(0)}
	if got := read(t, files); got.loss.StreamsUnknown || got.loss.Exactness != trace.Exact {
		t.Errorf("with an index of another processor without packets: %+v", got.loss)
	}
}

// packetIndex returns an index with entries for a number of packets, whose times are
// unknown.
func packetIndex(packets int) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0xc1f1dcc1)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, 72)
	return append(b, make([]byte, 72*packets)...)
}

// TestIndex flips bits of packet times in streams and indexes: a difference between them
// is damage, and makes the trace no longer than it is.
func TestIndex(t *testing.T) {
	const text = `trace
clock seconds=1700000000
stream 0 context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
file c_0
packet begin=0x40000010 end=0x40000020 seq=0
  ev 0 time=0x40000011 context=[1 1] 1 0 0
packet begin=0x40000020 end=0x40000030 seq=1
  ev 0 time=0x40000021 2 0 0
`
	const begin, end = 0x18, 0x20 // in an entry
	whole := read(t, assemble(t, text))
	for _, c := range []struct {
		name   string
		packet int
		flip   func(packet, entry []byte, times int)
		damage int
	}{
		{"nothing", 0, func(_, _ []byte, _ int) {}, 0},
		{"the first packet's begin, lower", 0, func(p, _ []byte, times int) { p[times+3] ^= 0x40 }, 1},
		{"the second packet's begin, lower", 1, func(p, _ []byte, times int) { p[times] ^= 0x20 }, 1},
		{"the last packet's end, higher", 1, func(p, _ []byte, times int) { p[times+8+4] ^= 1 }, 1},
		{"the index's begin, lower", 0, func(_, e []byte, _ int) { e[begin+4] ^= 0x40 }, 1},
		{"the index's end, higher", 1, func(_, e []byte, _ int) { e[end+3] ^= 1 }, 1},
	} {
		files := assemble(t, text)
		data := files["c_0"].Data
		size := len(data) / 2
		// The times are next to each other, the begin first.
		times := bytes.Index(data, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x40000010), 0x40000020))
		if times < 0 {
			t.Fatal("no times in the first packet")
		}
		idx := binary.BigEndian.AppendUint32(nil, 0xc1f1dcc1)
		idx = binary.BigEndian.AppendUint32(idx, 1)
		idx = binary.BigEndian.AppendUint32(idx, 1)
		idx = binary.BigEndian.AppendUint32(idx, 72)
		for i := range 2 {
			entry := make([]byte, 72)
			binary.BigEndian.PutUint64(entry, uint64(i*size))
			binary.BigEndian.PutUint64(entry[begin:], uint64(0x40000010+0x10*i))
			binary.BigEndian.PutUint64(entry[end:], uint64(0x40000020+0x10*i))
			if i == c.packet {
				c.flip(data[i*size:(i+1)*size], entry, times)
			}
			idx = append(idx, entry...)
		}
		files["index/c_0.idx"] = &fstest.MapFile{Data: idx}
		got := read(t, files)
		if got.err != nil || got.events != 2 || got.loss.Damaged != c.damage || got.last > whole.last {
			t.Errorf("%s: %v, %d events, %d damaged, %v long; want 2, %d and %v",
				c.name, got.err, got.events, got.loss.Damaged, got.last, c.damage, whole.last)
		}
	}
}

// TestIndexOfOthers reads a stream whose packets are not where its index has them. The times in
// the index are those of other packets then.
func TestIndexOfOthers(t *testing.T) {
	const text = `trace
clock seconds=1700000000
stream 0 seq=yes context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
file c_0
packet begin=0x40000000 end=0x41000000 seq=0
  ev 0 time=0x40000001 context=[1 1] 1 0 0
packet begin=0x41000000 end=0x42000000 seq=1
  ev 0 time=0x41800000 context=[1 1] 2 0 0
packet begin=0x42000000 end=0x43000000 seq=2
  ev 0 time=0x42800000 context=[1 1] 3 0 0
`
	for _, c := range []struct {
		order           string
		events, damaged int
		lost            bool
	}{
		{"abc", 3, 0, false},
		{"aabc", 3, 1, false},
		{"abbc", 3, 1, false},
		{"bc", 2, 0, true},
		{"ac", 2, 0, true},
		{"acb", 2, 1, true}, // b comes too late to be read
	} {
		files := assemble(t, text)
		data := files["c_0"].Data
		size := len(data) / 3
		idx := packetIndex(3)
		files["c_0"].Data = nil
		for i := range 3 {
			entry := idx[16+72*i:]
			for field, v := range map[int]int{0: i * size, 24: 0x40000000 + 0x1000000*i, 32: 0x41000000 + 0x1000000*i, 64: i} {
				binary.BigEndian.PutUint64(entry[field:], uint64(v))
			}
		}
		for _, p := range []byte(c.order) {
			files["c_0"].Data = append(files["c_0"].Data, data[int(p-'a')*size:][:size]...)
		}
		files["index/c_0.idx"] = &fstest.MapFile{Data: idx}
		got := read(t, files)
		if got.err != nil || got.events != c.events || got.loss.Damaged != c.damaged || got.loss.Late > 0 || len(got.loss.Ranges()) > 0 != c.lost {
			t.Errorf("%s: %v, %d events, %d late, %d damaged, lost at %v; want %d, 0, %d, %v",
				c.order, got.err, got.events, got.loss.Late, got.loss.Damaged, got.loss.Ranges(), c.events, c.damaged, c.lost)
		}
	}
}

// TestRepeatedPackets reads traces in which a packet occurs twice. Its events are emitted
// once, and the second is damage, unless snapshots overlap there.
func TestRepeatedPackets(t *testing.T) {
	const head = `trace
clock seconds=1700000000
stream 0 seq=%s context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
file c_0
`
	packets := map[byte]string{
		'a': "packet begin=10 end=20 seq=0\n  ev 0 time=11 context=[1 1] 1 0 0\n",
		'b': "packet begin=20 end=30 seq=1\n  ev 0 time=21 context=[1 1] 2 0 0\n",
		'c': "packet begin=30 end=40 seq=2\n  ev 0 time=31 context=[1 1] 3 0 0\n",
		'|': "file c_1\n",
	}
	for _, c := range []struct {
		order            string
		numbered         bool
		damaged, missing int
	}{
		{"abc", true, 0, 0},
		{"aabc", true, 1, 0},
		{"abca", true, 1, 0},
		{"abbbc", true, 2, 0},
		{"acbc", true, 2, 1},  // the second comes too late to be read
		{"ab|bc", true, 1, 0}, // not in a folder of its own, as a snapshot is
		{"abc", false, 0, 0},
		{"aabc", false, 1, 0},
		{"abcb", false, 1, 0},
	} {
		text := fmt.Sprintf(head, map[bool]string{true: "yes", false: "no"}[c.numbered])
		for _, p := range []byte(c.order) {
			text += packets[p]
		}
		if !c.numbered {
			text = regexp.MustCompile(` seq=[0-9]`).ReplaceAllString(text, "")
		}
		got := read(t, assemble(t, text))
		if want := 3 - c.missing; got.err != nil || got.events != want || got.loss.Damaged != c.damaged {
			t.Errorf("%s: %v, %d events, %d damaged; want %d and %d", c.order, got.err, got.events, got.loss.Damaged, want, c.damaged)
		}
		if got.loss.Damaged > 0 && got.loss.Exactness == trace.Exact {
			t.Errorf("%s: loss is exact", c.order)
		}
	}
}
