package nettrace

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// An occurrence identifies an event of a trace, if no thread raises two of a kind at a time.
type occurrence struct {
	kind string
	tid  uint64
	at   time.Duration
}

// occurrences returns how often each event occurs.
func occurrences(t *testing.T, data []byte) (map[occurrence]int, *Reader) {
	t.Helper()
	r := NewReader(bytes.NewReader(data), Options{})
	all := make(map[occurrence]int)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		all[occurrence{ev.Desc.Name, ev.TID, ev.Time()}]++
	}
	return all, r
}

// TestUnreadTimes overwrites parts of event blocks. Events that are missing then are at times at
// which the trace says that events may be lost, and that is only a part of its time.
func TestUnreadTimes(t *testing.T) {
	for _, name := range []string{"net10-wks-requests", "net10-wks-stacks"} {
		data := tracetest.Gunzip(t, "../testdata/"+name+".nettrace.gz")
		whole, undamaged := occurrences(t, data)
		length := undamaged.Info().Last
		blocks := eventBlocks(t, data)
		random := rand.New(rand.NewPCG(1, 2))
		var touched []time.Duration
		for range extent.Pick(10, 50, 500) {
			b := blocks[random.IntN(len(blocks))]
			damaged := bytes.Clone(data)
			from := b.from + blockHead + random.IntN(max(1, b.to-b.from-blockHead-64))
			for i := from; i < min(from+64, b.to); i++ {
				damaged[i] = 0xFF
			}
			got, r := occurrences(t, damaged)
			missing := 0
			for ev, n := range whole {
				if got[ev] >= n {
					continue
				}
				missing++
				if !r.Loss().Touches(ev.at, ev.at) {
					t.Fatalf("%s, bytes from %d on: %+v is missing, which the loss %v does not cover", name, from, ev, r.Loss().Ranges())
				}
			}
			if missing > 0 {
				touched = append(touched, lostTime(r.Loss()))
			}
		}
		t.Logf("%s: %v of %v in doubt", name, median(touched), length)
		if len(touched) == 0 || median(touched) > length/2 {
			t.Errorf("%s: %v of %v in doubt, of %d", name, median(touched), length, len(touched))
		}
	}
}

// blockHead is more than the bytes of the header of an event block of V4.
const blockHead = 24

// A byteRange is a part of a trace.
type byteRange struct{ from, to int }

// eventBlocks returns the contents of the event blocks that are larger than a few events.
func eventBlocks(t *testing.T, data []byte) []byteRange {
	t.Helper()
	in := eventpipe.NewFramer(bytes.NewReader(data), eventpipe.FileWindow)
	if err := in.Open(); err != nil {
		t.Fatal(err)
	}
	var all []byteRange
	for {
		var b eventpipe.Block
		if err := in.Read(&b); err != nil || b.Kind == eventpipe.BlockEnd {
			return all
		}
		if b.Kind == eventpipe.BlockEvents && len(b.Data) > 1000 {
			all = append(all, byteRange{int(b.Off), int(b.Off) + len(b.Data)})
		}
	}
}

// median returns the median of some times, 0 if there are none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// lostTime adds up the times at which events may be lost.
func lostTime(l *trace.Loss) (sum time.Duration) {
	for _, r := range l.Ranges() {
		sum += r.To - r.From
	}
	return sum
}
