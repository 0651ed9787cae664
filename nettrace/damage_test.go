package nettrace

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestFlippedBits flips each bit of the head of a trace, and some of the rest. A
// bit of an event or block must not make the trace longer unless that is reported as
// damage, nor make it lose more events than the numbers of one thread can count. A run of all flips a
// third of them in each turn.
func TestFlippedBits(t *testing.T) {
	const head = 112 * 8
	flips := extent.Pick(200, 500, 20_000)
	for _, name := range []string{"net10-wks-web-collect.nettrace", "net21-win-x86-objver3.netperf"} {
		data := tracetest.Gunzip(t, "../testdata/"+name+".gz")
		_, whole := readAll(t, data)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := 0; i < head+flips; i += extent.Pick(5, 1, 1) {
			bit := i
			if i >= head {
				bit = head + rng.IntN(8*len(data)-head)
			}
			if !extent.Due(i, 3) {
				continue
			}
			flipped := bytes.Clone(data)
			flipped[bit/8] ^= 1 << (bit % 8)
			r := NewReader(bytes.NewReader(flipped), Options{})
			var failed error
			for _, failed = range r.Events() {
			}
			if failed != nil {
				continue
			}
			if longer := r.Info().Last > whole.Info().Last*11/10; longer && i >= head && r.Loss().Damaged == 0 {
				t.Errorf("%s, bit %d of byte %d: it lasts %v", name, bit%8, bit/8, r.Info().Last)
			}
			if r.Loss().Damaged > 0 && r.Loss().Events > 1000 {
				t.Errorf("%s, bit %d of byte %d: %d events lost", name, bit%8, bit/8, r.Loss().Events)
			}
		}
	}
}

// TestNonsenseAfter appends blocks of random bytes to a trace. Bytes that look like
// events there must not make the trace longer.
func TestNonsenseAfter(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-wks-web-collect.nettrace.gz")
	events, whole := readAll(t, data)
	for seed := range uint64(50) {
		random := rand.NewChaCha8([32]byte{byte(seed)})
		longer := data[:len(data)-1] // without the mark of the end
		for range 3 {
			content := make([]byte, 20<<10)
			_, _ = random.Read(content)
			longer = appendBlock(longer, "EventBlock", content)
		}
		got, r := readAll(t, append(longer, 1))
		if last := r.Info().Last; last > whole.Info().Last+time.Second || r.Loss().Damaged == 0 || len(got) < len(events) {
			t.Errorf("seed %d: %d of %d events, the last at %v instead of %v, %d places damaged", seed, len(got), len(events), last, whole.Info().Last, r.Loss().Damaged)
		}
	}
}

// TestGapsInBlocks leaves bytes out of event blocks, so that the events behind are made of
// the bytes of others. Their times and numbers must not make the trace longer or older, nor
// its loss larger.
func TestGapsInBlocks(t *testing.T) {
	for _, test := range []struct {
		name     string
		at, size int
	}{
		{"net10-wks-throttled-collect.nettrace", 470, 496},         // the first block, before most of its events
		{"net10-wks-throttled-collect.nettrace", 470, 500},         // another time of the last event
		{"net10-wks-background-collect.nettrace", 924_131, 11_511}, // the last block, which is then truncated
		{"net21-win-x86-objver3.netperf", 647_054, 380_051},        // an event of an undefined kind is weeks later
	} {
		data := tracetest.Gunzip(t, "../testdata/"+test.name+".gz")
		data = data[:min(len(data), 2<<20)]
		events, whole := readAll(t, data)
		got, r := readAll(t, slices.Concat(data[:test.at], data[test.at+test.size:]))
		length := whole.Info().Last + time.Second
		if r.Info().Last > length || len(got) == 0 {
			t.Errorf("%s, %d bytes at %d: %d events until %v, want at most %v", test.name, test.size, test.at, len(got), r.Info().Last, length)
		}
		if lost := r.Loss().Events; lost > uint64(max(0, len(events)-len(got))) {
			t.Errorf("%s, %d bytes at %d: %d events lost, %d are missing", test.name, test.size, test.at, lost, len(events)-len(got))
		}
		for _, lost := range r.Loss().Ranges() {
			if lost.To > length {
				t.Errorf("%s, %d bytes at %d: events lost until %v, want at most %v", test.name, test.size, test.at, lost.To, length)
			}
		}
	}
}

// appendBlock appends a block of V4 to a trace.
func appendBlock(trace []byte, name string, content []byte) []byte {
	trace = append(slices.Clip(trace), 5, 5, 1, 2, 0, 0, 0, 2, 0, 0, 0)
	trace = binary.LittleEndian.AppendUint32(trace, uint32(len(name)))
	trace = append(append(trace, name...), 6)
	trace = binary.LittleEndian.AppendUint32(trace, uint32(len(content)))
	trace = append(trace, make([]byte, -len(trace)&3)...)
	return append(append(trace, content...), 6)
}
