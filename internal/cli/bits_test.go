package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// bitTraces are traces that have, together, all kinds of events that commands read. The first
// ones, which a sample takes, are small.
var bitTraces = []string{
	"net10-wks-batch", "net10-srv-web-1", "net8-srv-background", "net10-wks-fit-cache", "net10-wks-poh",
	"net9-srv-datas-all", "net10-wks-stacks", "net10-wks-pin-collect", "net10-wks-hardlimit-web-collect", "net10-wks-handles-collect", "net10-wks-finalizers-collect",
}

// A bitTrace is a trace whose payloads are to be damaged.
type bitTrace struct {
	name    string
	info    trace.Info
	events  []*trace.Event
	byKind  map[clr.Kind][]int // indexes of events
	kinds   []clr.Kind
	largest []map[string]float64 // figures of each command, undamaged
}

func readBitTrace(t *testing.T, name string) *bitTrace {
	t.Helper()
	b := &bitTrace{name: name, byKind: make(map[clr.Kind][]int)}
	in := nettrace.NewReader(bytes.NewReader(tracetest.Gunzip(t, "../../testdata/"+name+".nettrace.gz")), nettrace.Options{Stacks: true})
	for ev, err := range in.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if kind := clr.KindOf(ev.Desc.Provider, ev.Desc.ID); kind != clr.KindUnknown && len(ev.Payload) > 0 && !strings.Contains(ev.Desc.Provider, "Rundown") {
			b.byKind[kind] = append(b.byKind[kind], len(b.events))
		}
		b.events = append(b.events, ev.Clone())
	}
	b.info = *in.Info()
	for kind := range b.byKind {
		b.kinds = append(b.kinds, kind)
	}
	slices.Sort(b.kinds)
	return b
}

// write writes the trace to a file.
func (b *bitTrace) write(t *testing.T, path string) {
	t.Helper()
	var out bytes.Buffer
	w, err := nettrace.NewWriter(&out, nettrace.WriterOptions{
		Start: b.info.Start, Frequency: b.info.Clock.Frequency, PointerSize: b.events[0].PointerSize, PID: b.info.PID, CPUs: b.info.CPUs,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range b.events {
		if err := w.Write(ev.TID, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// measure finds the figures of each command, undamaged, by way of a file.
func (b *bitTrace) measure(t *testing.T, path string) {
	t.Helper()
	b.write(t, path)
	for _, command := range figureCommands {
		_, out, talk := gctrail(t.Context(), append(command, path)...)
		largest, _ := figures(t, out)
		b.largest = append(b.largest, largest)
		for _, mark := range damageMarks {
			if strings.Contains(out+talk, mark) {
				t.Errorf("%s: %s is undamaged, and has %q: %s", b.name, command, mark, talk)
			}
		}
	}
}

// figureCommands print figures as JSON.
var figureCommands = [][]string{
	{"report", "--format", "json", "--full"},
	{"gcs", "--format", "jsonl"},
	{"gcs", "--per-heap", "--format", "jsonl"},
	{"gcs", "--metrics", "--format", "jsonl"},
	{"allocs", "--format", "jsonl"},
	{"heap", "--format", "jsonl"},
	{"pins", "--format", "jsonl"},
	{"handles", "--format", "jsonl"},
	{"finalizers", "--format", "jsonl"},
	{"pauses", "--format", "jsonl"},
	{"joins", "--format", "jsonl"},
	{"phases", "--format", "jsonl"},
}

// figures returns the largest number under each key of JSON values, and all negative ones.
func figures(t *testing.T, out string) (largest map[string]float64, negative []string) {
	t.Helper()
	largest = make(map[string]float64)
	var visit func(key string, v any)
	visit = func(key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				visit(k, e)
			}
		case []any:
			for _, e := range v {
				visit(key, e)
			}
		case json.Number:
			n, err := v.Float64()
			if err != nil {
				t.Errorf("%s: %v", key, err)
			}
			if n < 0 && v.String() != "-1" {
				negative = append(negative, key+" "+v.String())
			}
			largest[key] = max(largest[key], n)
		}
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Errorf("not JSON: %v", err)
			break
		}
		visit("", v)
	}
	return largest, negative
}

// damageMarks are the signs in output that damage was noticed.
var damageMarks = []string{`"affected_by_loss":true`, `"at":[{`, "events is missing", "impossible sizes", "left out"}

// identities are keys of numbers that measure nothing.
var identities = []string{"pid", "number", "clr_instance", "reason_code", "heap", "keywords", "level", "id", "start_ms", "from_ms", "to_ms", "first", "last"}

// counts are keys of numbers that nothing else in a trace bounds.
var counts = []string{"pinned_objects", "sync_blocks", "gc_handles", "finalization_promoted_count"}

// beyond returns the figures that are far larger than in the undamaged trace.
func beyond(whole, got map[string]float64) (list []string) {
	const mb = 1 << 20
	for key, n := range got {
		most := 4*whole[key] + 100_000 // the runtime counts with 32 bits
		switch {
		case slices.Contains(identities, key):
			continue
		case strings.Contains(key, "budget"):
			most = 64*whole[key] + 8192*mb
		case strings.Contains(key, "bytes"), strings.Contains(key, "Committed"):
			most = 4*whole[key] + 2048*mb
		case slices.Contains(counts, key):
			most = math.MaxUint32
		}
		if n > most {
			list = append(list, fmt.Sprintf("%s is %g, was %g", key, n, whole[key]))
		}
	}
	slices.Sort(list)
	return list
}

// TestPayloadBits flips single bits in payloads: a command's output is still possible, or
// marked. GCTRAIL_SEED chooses the bits.
func TestPayloadBits(t *testing.T) {
	t.Parallel()
	tries := extent.Pick(10, 40, 6000)
	path := filepath.Join(t.TempDir(), "bit.nettrace")
	list := make([]*bitTrace, extent.Pick(5, len(bitTraces), len(bitTraces)))
	seed, err := strconv.ParseUint(os.Getenv("GCTRAIL_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	bad := 0
	for n := range tries {
		if !extent.Due(n, 8) {
			continue
		}
		at := n % len(list)
		if list[at] == nil {
			list[at] = readBitTrace(t, bitTraces[at])
			list[at].measure(t, path)
		}
		b, r := list[at], rand.New(rand.NewPCG(seed, uint64(n)))
		kind := b.kinds[r.IntN(len(b.kinds))]
		ev := b.events[b.byKind[kind][r.IntN(len(b.byKind[kind]))]]
		bit := r.IntN(8 * len(ev.Payload))
		ev.Payload[bit/8] ^= 1 << (bit % 8)
		b.write(t, path)
		ev.Payload[bit/8] ^= 1 << (bit % 8)
		failed := false
		for i, command := range figureCommands {
			_, out, talk := gctrail(t.Context(), append(command, path)...)
			largest, negative := figures(t, out)
			for _, figure := range negative {
				t.Errorf("%s: %s, bit %d: %s: negative: %s", b.name, kind, bit, command, figure)
				failed = true
			}
			marked := slices.ContainsFunc(damageMarks, func(mark string) bool { return strings.Contains(out+talk, mark) })
			if far := beyond(b.largest[i], largest); len(far) > 0 && !marked {
				t.Errorf("%s: %s, bit %d: %s: nothing is marked, and %s", b.name, kind, bit, command, far)
				failed = true
			}
		}
		if failed {
			bad++
		}
	}
	t.Logf("%d bits, %d lead to figures that cannot be", tries, bad)
}

// TestShiftedStart moves all events of a trace like a damaged reading of the clock: the
// share of pauses stays, and the report states that the trace begins with nothing.
func TestShiftedStart(t *testing.T) {
	b := readBitTrace(t, "net30-win-x64-survival")
	path := filepath.Join(t.TempDir(), "shifted.nettrace")
	b.write(t, path)
	share := func() string {
		_, share, _ := strings.Cut(report80(t, path), "(")
		share, _, _ = strings.Cut(share, " %")
		return share
	}
	before := share()
	for _, ev := range b.events {
		ev.Ticks += 1000 * b.info.Clock.Frequency
	}
	b.write(t, path)
	report := strings.Join(strings.Fields(report80(t, path)), " ")
	if share() != before || !strings.Contains(report, "no event in the first 16m40s") || !strings.Contains(report, "start time is damaged") {
		t.Errorf("%s %% of the time, was %s: %s", share(), before, report)
	}
}
