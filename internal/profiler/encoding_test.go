package profiler

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
)

// parts returns the fields of a message that have a length, by their numbers.
func parts(t *testing.T, message []byte) map[protowire.Number][][]byte {
	t.Helper()
	all := make(map[protowire.Number][][]byte)
	for len(message) > 0 {
		number, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, typ, message[n:])
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if typ == protowire.BytesType {
			b, _ := protowire.ConsumeBytes(message[n:])
			all[number] = append(all[number], b)
		}
		message = message[n+size:]
	}
	return all
}

// allocations has one row: 3 objects and 100 bytes of type A, of the method Run.
func allocations() profile.Profile {
	maker := tracetest.Maker{PID: 7}
	var methods symbol.Table
	methods.Feed(maker.At(0, &clr.MethodLoadVerbose{MethodID: 1, MethodStartAddress: 0x1000, MethodSize: 0x100, MethodName: clr.NewUTF16("Run")}))
	stacks := symbol.NewStacks(&methods)
	ev := maker.At(time.Second, &clr.GCAllocationTick{})
	ev.SetStack(binary.LittleEndian.AppendUint64(nil, 0x1010), 8)
	row := alloc.Row{Type: "A", Heap: alloc.Large, Stack: stacks.Intern(ev), Objects: 3, Estimate: alloc.Estimate{Bytes: 100}}
	return profile.Allocations([]*export.Allocations{{Process: &gc.Process{PID: 7, Name: "web"}, Rows: []alloc.Row{row}, Stacks: stacks}})
}

var subject = &Subject{
	Process: &diag.Process{PID: 7, Name: "web"}, Service: "shop",
	Labels: []Label{{"pid", "7"}, {"container", "abc"}}, Attributes: map[string]any{"process.pid": int64(7), "service.name": "shop"},
}

// TestPushRequest reads a request to Pyroscope: its labels, and the profile, whose only sample
// has its type as innermost frame and no labels.
func TestPushRequest(t *testing.T) {
	request, err := pushRequest(subject, allocations(), time.Unix(100, 0), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	series := parts(t, parts(t, request)[1][0])
	labels := make(map[string]string)
	for _, pair := range series[1] {
		p := parts(t, pair)
		labels[string(p[1][0])] = string(p[2][0])
	}
	if want := map[string]string{"__name__": "memory", "service_name": "shop", "pid": "7", "container": "abc"}; !maps.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
	p, err := pprof.Parse(bytes.NewReader(parts(t, series[2][0])[1][0]))
	if err != nil {
		t.Fatal(err)
	}
	if p.TimeNanos != 100e9 || p.DurationNanos != 60e9 || len(p.Sample) != 1 {
		t.Fatalf("%v", p)
	}
	var frames []string
	for _, l := range p.Sample[0].Location {
		frames = append(frames, l.Line[0].Function.Name)
	}
	if s := p.Sample[0]; !slices.Equal(frames, []string{"Type A (large)", "Run"}) || !slices.Equal(s.Value, []int64{3, 100}) || len(s.Label) > 0 {
		t.Errorf("%v, %q", s, frames)
	}
}

// TestProfilesData: a message of OTLP has a profile of bytes and one of objects, which share
// a dictionary, of whose tables the first entry is empty.
func TestProfilesData(t *testing.T) {
	data, err := profilesData(subject, allocations(), time.Unix(100, 0), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	message := parts(t, data)
	scope := parts(t, parts(t, message[fieldResourceProfiles][0])[fieldScopeProfiles][0])
	if n := len(scope[fieldProfiles]); n != 2 {
		t.Errorf("%d profiles", n)
	}
	dictionary := parts(t, message[fieldDictionary][0])
	for table := mappings; table < numTables; table++ {
		if len(dictionary[protowire.Number(table)][0]) != 0 {
			t.Errorf("table %d does not begin with an empty entry", table)
		}
	}
	var all []string
	for _, s := range dictionary[texts] {
		all = append(all, string(s))
	}
	if got, want := strings.Join(all, " "), " alloc_space bytes alloc_objects count Type A (large) Run"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fmt.Sprint(len(dictionary[locations]), len(dictionary[stacks])); got != "3 2" {
		t.Errorf("%s locations and stacks, want 3 and 2", got)
	}
}

// TestWanted: of a list of methods, the ones at an address are kept.
func TestWanted(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	wanted := []uint64{0x1000, 0x10ff, 0x3000}
	for start, want := range map[uint64]bool{0x0f00: false, 0x0f01: true, 0x1000: true, 0x1100: false, 0x2fff: true, 0x3001: false} {
		ev := maker.At(0, &clr.MethodLoadVerbose{MethodStartAddress: start, MethodSize: 0x100})
		if got := hasOneOf(new(clr.MethodLoadVerbose), ev, wanted); got != want {
			t.Errorf("a method at %#x is wanted: %v", start, got)
		}
	}
}

// TestAges: an address waits for a list once, whether it has a name there or not, and is
// forgotten when it was in no stack for some lists.
func TestAges(t *testing.T) {
	n := newNames()
	if unknown := n.note(slices.Values([]uint64{1, 2, 1})); unknown != 3 {
		t.Errorf("%d unknown", unknown)
	}
	n.listed(new(symbol.Table))
	if unknown := n.note(slices.Values([]uint64{1, 3})); unknown != 1 {
		t.Errorf("%d unknown after a list", unknown)
	}
	for range forgotten + 1 {
		n.listed(new(symbol.Table))
		n.note(slices.Values([]uint64{1}))
	}
	if got := slices.Sorted(maps.Keys(n.ages)); !slices.Equal(got, []uint64{1}) {
		t.Errorf("addresses %v are named", got)
	}
}

// TestSampled: runtimes that have AllocationSampled are asked for little else: for the dynamic
// methods that they unload, and whether they unload assemblies, and if so for the methods of these.
func TestSampled(t *testing.T) {
	const sampling = clr.KeywordAllocationSampling | clr.KeywordJit
	for _, c := range []struct {
		version   string
		unloading bool
		keywords  uint64
		level     uint8
		events    []uint32
	}{
		{"10.0.1", false, sampling | clr.KeywordLoader, 4, []uint32{303, 144, 155}},
		{"11.0.0-preview.1", false, sampling | clr.KeywordLoader, 4, []uint32{303, 144, 155}},
		{"10.0.1", true, sampling | clr.KeywordEndEnumeration, 5, []uint32{303, 144}},
		{"9.0.0", false, clr.KeywordGC, 5, nil},
		{"8.0.11", true, clr.KeywordGC, 5, nil},
		{"", false, clr.KeywordGC, 5, nil},
	} {
		of := sampled(c.version, c.unloading).Providers[0]
		if of.Keywords != c.keywords || of.Level != c.level || !slices.Equal(of.Events, c.events) {
			t.Errorf("%q, unloading %v: keywords %#x, level %d, events %v", c.version, c.unloading, of.Keywords, of.Level, of.Events)
		}
	}
}
