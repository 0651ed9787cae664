package eventpipe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gctrail/gctrail/trace"
)

// A testObject is an object of a trace that is put together.
type testObject struct {
	kind BlockKind
	data []byte
}

// headV4 is a trace up to the end of its Trace object.
var headV4 = append(append(AppendHeadV4(nil), make([]byte, traceObjectSize)...), TagEnd)

// appendObject appends a block to a V4 trace, or to one of V3.
func appendObject(b []byte, version int, o testObject) []byte {
	at := len(b)
	b = append(AppendFrameV4(b, o.kind, len(o.data), int64(at)), o.data...)
	if version == 3 {
		copy(b[at:], beginV3)
	}
	return append(b, TagEnd)
}

// eventsOfSize is the contents of a block with a header.
func eventsOfSize(n int) []byte {
	b := make([]byte, EventBlockHeader, EventBlockHeader+n)
	PutBlockHeader(b, true, 0, 0)
	return append(b, bytes.Repeat([]byte{0xA5}, n)...)
}

// pointAt is the contents of a sequence point with some threads.
func pointAt(ticks uint64, threads int) []byte {
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, ticks), uint32(threads))
	for i := range threads {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, uint64(i)<<8), 0)
	}
	return b
}

// eventV3 is an event of V3 with a size, of which its first four bytes do not count.
func eventV3(size int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(size))
	b = append(b, make([]byte, size)...)
	binary.LittleEndian.PutUint32(b[headerSizeV3-4:], uint32(size-headerSizeV3))
	return b
}

// afterDamage are blocks, some of which begin with zeros, like padding.
var afterDamage = map[string][]testObject{
	"V4 events":     {{BlockEvents, eventsOfSize(41)}, {BlockEvents, eventsOfSize(700)}},
	"V4 metadata":   {{BlockMetadata, eventsOfSize(42)}, {BlockSequencePoint, pointAt(1<<24, 3)}},
	"V4 point":      {{BlockSequencePoint, pointAt(1<<24, 3)}, {BlockEvents, eventsOfSize(41)}},
	"V4 no threads": {{BlockSequencePoint, pointAt(1<<24, 0)}, {BlockStacks, make([]byte, 9)}},
	"V4 stacks":     {{BlockStacks, append(make([]byte, 400), 3)}, {BlockSequencePoint, pointAt(0, 1)}},
	"V4 large":      {{BlockSequencePoint, pointAt(1<<32, 200)}, {BlockEvents, eventsOfSize(41)}},
	"V3 events":     {{BlockEvents, eventV3(260)}, {BlockEvents, append(eventV3(300), eventV3(264)...)}},
	"V3 zeros":      {{BlockEvents, eventV3(256)}, {BlockEvents, append(eventV3(256), eventV3(512)...)}},
}

// list describes what a framer reads of a trace from its second object on.
func list(t *testing.T, in io.Reader, window int) []string {
	t.Helper()
	f := NewFramer(in, WindowSizes{Least: 128, Most: window})
	if err := f.Open(); err != nil {
		t.Fatal(err)
	}
	var all []string
	for {
		var b Block
		err := f.Read(&b)
		var damage *trace.FormatError
		switch {
		case errors.As(err, &damage):
			all = append(all, "damage")
		case err != nil:
			return append(all, err.Error())
		case b.Kind != BlockTrace:
			all = append(all, fmt.Sprintf("%v %x, cut %v, moved %v", b.Kind, b.Data, b.Cut, b.Moved))
		}
		if b.Kind == BlockEnd && err == nil {
			return all
		}
	}
}

// missing returns a trace of some objects in which the object before them is incomplete: the
// bytes left out begin in the one before it. Also returned is the rest of the whole trace's list.
func missing(t *testing.T, version int, objects []testObject) (data []byte, from, to int, want []string) {
	t.Helper()
	data = slices.Clone(headV4)
	if version == 3 {
		data = data[len(nettraceMagic):]
		copy(data[4+len(streamMagic):], beginV3[:3])
		data[4+len(streamMagic)+3] = 3
	}
	start := len(data)
	data = appendObject(data, version, testObject{BlockEvents, eventsOfSize(600)})
	data = appendObject(data, version, testObject{BlockEvents, eventsOfSize(2000)})
	from, to = start+100, len(data)-1500
	for _, o := range objects {
		data = appendObject(data, version, o)
	}
	data = append(data, tagNull)
	want = list(t, bytes.NewReader(data), 128)[2:]
	if len(want) != len(objects)+1 {
		t.Fatalf("%d objects: %q", len(objects), want)
	}
	return data, from, to, want
}

// TestGaps leaves bytes out of traces. The blocks behind are read with any number of bytes
// missing, through windows with and without room for them.
func TestGaps(t *testing.T) {
	for name, objects := range afterDamage {
		whole, from, to, want := missing(t, int(name[1]-'0'), objects)
		for gap := range alignment {
			data := slices.Delete(slices.Clone(whole), from, to+gap)
			for _, window := range []int{128, FileWindow.Most} {
				for _, in := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data))} {
					got := list(t, in, window)
					if n := len(got) - len(want); n != 2 || got[1] != "damage" || !slices.Equal(got[n:], want) {
						t.Errorf("%s, %d bytes more, window of %d:\n%s\nwant\n%s", name, gap, window, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
			}
		}
	}
}

// otherKind is a kind that has no name in V4, so that its blocks count as unknown.
const otherKind = BlockLabels

// TestMissingObjects leaves a whole object out, so that only the padding of what follows shows
// it. Blocks of events and metadata are read, and say so; others that could be misread are
// refused.
func TestMissingObjects(t *testing.T) {
	for name, objects := range afterDamage {
		if name == "V3 zeros" {
			continue // one byte late they have another size, which is possible, too
		}
		version := int(name[1] - '0')
		for size := range alignment {
			other := testObject{otherKind, make([]byte, 40+size)}
			without, _, _, _ := missing(t, version, nil)
			with, _, _, _ := missing(t, version, []testObject{other})
			data, _, _, want := missing(t, version, append([]testObject{other}, objects...))
			data = slices.Delete(data, len(without)-1, len(with)-1)
			left := len(with) - len(without)
			got := list(t, bytes.NewReader(data), 128)[2:]
			moved := left%alignment != 0
			for _, block := range got {
				unmarked := strings.Replace(block, "moved true", "moved false", 1)
				if block != "damage" && !slices.Contains(want, unmarked) || block != unmarked && !moved {
					t.Errorf("%s, %d bytes missing: %s, want one of\n%s", name, left, block, strings.Join(want, "\n"))
				}
			}
			first := strings.Replace(want[1], "moved false", fmt.Sprintf("moved %v", moved), 1)
			if kind := objects[0].kind; (kind == BlockEvents || kind == BlockMetadata || !moved) && got[0] != first {
				t.Errorf("%s, %d bytes missing: %s, want %s", name, left, got[0], first)
			}
		}
	}
}

// TestDamagedTwice leaves bytes out of a sequence point or stacks, too. These must not be
// read, and what follows must, whether they begin with zeros, like padding, or not.
func TestDamagedTwice(t *testing.T) {
	for _, o := range []testObject{
		{BlockSequencePoint, pointAt(1<<24, 30)},
		{BlockSequencePoint, pointAt(1<<24+1, 30)},
		{BlockStacks, make([]byte, 300)},
		{BlockStacks, bytes.Repeat([]byte{1}, 300)},
	} {
		for gap := range alignment {
			for more := range alignment {
				filler := testObject{BlockEvents, eventsOfSize(900)}
				whole, from, to, want := missing(t, 4, []testObject{o, filler, {BlockEvents, eventsOfSize(41)}})
				i := bytes.LastIndex(whole, o.data) + 200
				data := slices.Delete(whole, i, i+300+more)
				got := list(t, bytes.NewReader(slices.Delete(data, from, to+gap)), FileWindow.Most)
				if slices.Contains(got, want[0]) || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, o.kind.String()) }) {
					t.Errorf("%v, %d and %d bytes more: %s", o.kind, gap, more, strings.Join(got, "\n"))
				}
				if !slices.Contains(got, want[2]) {
					t.Errorf("%v, %d and %d bytes more: %s\nwant %s", o.kind, gap, more, strings.Join(got, "\n"), want[2])
				}
			}
		}
	}
}

// TestTruncatedAfterGap ends a trace within the first block after damage. A block with a
// header is read up to there. A sequence point whose padding is ambiguous is not.
func TestTruncatedAfterGap(t *testing.T) {
	for _, test := range []struct {
		of   testObject
		want string
	}{
		{testObject{BlockEvents, eventsOfSize(100)}, "event block"},
		{testObject{BlockSequencePoint, pointAt(1<<24, 10)}, "unexpected EOF"},
	} {
		for gap := range alignment {
			whole, from, to, _ := missing(t, 4, []testObject{test.of})
			data := slices.Delete(whole[:len(whole)-50], from, to+gap)
			got := list(t, bytes.NewReader(data), FileWindow.Most)
			if i := slices.IndexFunc(got, func(s string) bool { return s == "damage" }); i < 0 || !strings.HasPrefix(got[i+1], test.want) {
				t.Errorf("%v, %d bytes more: %s", test.of.kind, gap, strings.Join(got, "\n"))
			}
		}
	}
}
