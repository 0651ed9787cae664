package etl_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestMissing leaves buffers out of files of two processors. A buffer has one event, at
// so many microseconds as its number times ten, unless the case lists several.
func TestMissing(t *testing.T) {
	const open, circular = "end", 2
	type buffer struct {
		cpu uint16
		seq uint64
		us  int64 // 0: by the number
	}
	bySeq := func(a, b buffer) int { return cmp.Compare(a.seq, b.seq) }
	for _, c := range []struct {
		name    string
		mode    uint32
		cut     bool
		flushed []int64 // microseconds, by buffer
		damaged int     // number of the buffer that is
		buffers []buffer
		want    string // when events may be missing; "" for never
	}{
		{name: "whole", buffers: []buffer{{cpu: 0, seq: 1}, {cpu: 1, seq: 2}, {cpu: 0, seq: 3}}},
		{name: "numbers left out, but whole", buffers: []buffer{{cpu: 0, seq: 1}, {cpu: 1, seq: 4}, {cpu: 0, seq: 5}}},
		{
			name: "cut, a processor idle since long", cut: true,
			buffers: []buffer{{cpu: 1, seq: 1}, {cpu: 0, seq: 2}, {cpu: 0, seq: 3}, {cpu: 0, seq: 4}},
			want:    "40µs to end",
		},
		{
			name: "cut, a processor without any buffer", cut: true,
			buffers: []buffer{{cpu: 0, seq: 1}, {cpu: 0, seq: 2}, {cpu: 0, seq: 3}},
			want:    "30µs to end",
		},
		{
			name: "cut, a processor's buffer not written", cut: true,
			buffers: []buffer{{cpu: 1, seq: 1}, {cpu: 0, seq: 2}, {cpu: 0, seq: 4}, {cpu: 0, seq: 5}},
			want:    "20µs to end",
		},
		{
			name: "cut, the first buffer of a processor not written", cut: true,
			buffers: []buffer{{cpu: 0, seq: 2}, {cpu: 0, seq: 3}},
			want:    "0s to end",
		},
		{
			name: "cut, a number that no processor can have yet to write", cut: true,
			buffers: []buffer{{cpu: 1, seq: 1}, {cpu: 0, seq: 3}, {cpu: 1, seq: 4}, {cpu: 0, seq: 5}},
			want:    "50µs to end",
		},
		{
			name: "cut, not quite in order", cut: true,
			buffers: []buffer{{cpu: 0, seq: 1}, {cpu: 1, seq: 2, us: 23}, {cpu: 0, seq: 3, us: 20}, {cpu: 1, seq: 5}},
			want:    "20µs to end",
		},
		{
			name: "damaged", damaged: 2,
			buffers: []buffer{{cpu: 0, seq: 1}, {cpu: 1, seq: 2}, {cpu: 0, seq: 3}, {cpu: 1, seq: 4}, {cpu: 0, seq: 5}},
			want:    "10µs to 40µs",
		},
		{
			name: "damaged, a processor idle afterwards", damaged: 2,
			buffers: []buffer{{cpu: 0, seq: 1}, {cpu: 1, seq: 2}, {cpu: 0, seq: 3}, {cpu: 0, seq: 4}},
			want:    "10µs to end",
		},
		{
			name: "circular, not come round", mode: circular, flushed: []int64{90, 91, 92},
			buffers: []buffer{{cpu: 0, seq: 2}, {cpu: 1, seq: 3}, {cpu: 0, seq: 1}},
		},
		{
			name: "circular, come round", mode: circular, flushed: []int64{80, 90, 68, 77},
			buffers: []buffer{{cpu: 0, seq: 8}, {cpu: 1, seq: 9}, {cpu: 0, seq: 6}, {cpu: 1, seq: 7}},
			want:    "0s to 68µs",
		},
		{
			name: "circular, come round, an old buffer written late", mode: circular, flushed: []int64{80, 90, 68},
			buffers: []buffer{{cpu: 0, seq: 8}, {cpu: 1, seq: 1}, {cpu: 0, seq: 6}},
			want:    "0s to 68µs",
		},
		{
			name: "circular, come round, not told when buffers were written", mode: circular,
			buffers: []buffer{{cpu: 0, seq: 8}, {cpu: 1, seq: 9}, {cpu: 0, seq: 7}},
			want:    "0s to end",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tracetest.NewETL()
			f.Header.CPUs, f.Unmarked = 2, c.cut
			if c.mode == circular {
				f.Header.Mode, f.Header.Written = c.mode, 1+int(slices.MaxFunc(c.buffers, bySeq).seq)
			}
			last := int64(0)
			for i, b := range c.buffers {
				if b.us == 0 {
					b.us = int64(b.seq) * 10
				}
				last = max(last, b.us)
				x := f.Buffer(b.cpu).Event(at(b.us, 1))
				x.Seq = b.seq
				if c.flushed != nil {
					x.Flushed = f.Header.Time + 10*c.flushed[i]
				}
				if int(b.seq) == c.damaged {
					x.Type = 99
				}
			}
			got := ""
			for l := range strings.Lines(listing(etl.Options{}, f.Bytes())) {
				if rest, ok := strings.CutPrefix(l, "lost between "); ok {
					got += strings.Replace(strings.TrimSpace(rest), " and ", " to ", 1)
				}
			}
			end := strings.Fields(line(last, 0, ""))[0]
			if want := strings.Replace(c.want, open, strings.TrimSuffix(end, ":"), 1); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestCutShort reads a file that ends within the buffer of an idle processor: events may
// be missing only after the last one read of it.
func TestCutShort(t *testing.T) {
	f := tracetest.NewETL()
	f.Header.CPUs = 2
	idle := f.Buffer(1).Event(at(1, 1)).Event(at(50, 2)).Event(at(60, 3))
	f.Buffer(0).Event(at(10, 4))
	f.Buffer(0).Event(at(90, 5))
	f.Buffers = append(f.Buffers[1:], idle)
	data := f.Bytes()
	same(t, listing(etl.Options{}, data[:0x3000+0x48+2*0x50+8]),
		line(1, 1, "1 []"), line(10, 4, "0 []"), line(50, 2, "1 []"), line(90, 5, "0 []"),
		"lost: 0 (lower_bound), cut", "lost between 50µs and 90µs")
}

// TestRepeatedBuffers reads files in which a buffer occurs twice: its events are emitted
// once, and the second is damage.
func TestRepeatedBuffers(t *testing.T) {
	for _, place := range []int{2, 3, 4} {
		f := tracetest.NewETL()
		f.Header.CPUs, f.Header.Written = 2, 5
		for i := range int64(4) {
			f.Buffer(uint16(i % 2)).Event(at(10*i, uint16(1+i))).Event(at(10*i+5, uint16(11+i)))
		}
		f.Buffers = slices.Insert(f.Buffers, place, f.Buffers[1])
		same(t, listing(etl.Options{}, f.Bytes()),
			line(0, 1, "0 []"), line(5, 11, "0 []"), line(10, 2, "1 []"), line(15, 12, "1 []"),
			line(20, 3, "0 []"), line(25, 13, "0 []"), line(30, 4, "1 []"), line(35, 14, "1 []"),
			"lost: 0 (lower_bound)", fmt.Sprintf("damage: etl: buffer at %#x: malformed: buffer 2 of processor 1 was there before", 0x1000*(place+1)))
	}
}
