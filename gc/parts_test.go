package gc_test

import (
	"fmt"
	"hash/crc32"
	"iter"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A part is a source without some of its events. Their loss is counted if the trace says so.
type part struct {
	trace.Source
	lacks func(n int, ev *trace.Event) bool // event n
	told  bool
	own   []time.Duration // of the events that it lacks, where it counts them
	loss  trace.Loss
}

// Loss returns the loss of the source and of the part.
func (p *part) Loss() *trace.Loss { return &p.loss }

// count sets the loss anew, because a source may replace its own at any event.
func (p *part) count() {
	p.loss = p.Source.Loss().Clone()
	for _, at := range p.own {
		p.loss.Add(1, at, at)
	}
}

func (p *part) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		p.count()
		defer p.count()
		n := 0
		for ev, err := range p.Source.Events() {
			if p.loss.Settled != p.Source.Loss().Settled {
				p.count()
			}
			if n++; err == nil && p.lacks(n, ev) {
				if p.told {
					p.own = append(p.own, ev.Time())
					p.loss.Add(1, ev.Time(), ev.Time())
				}
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// TestFiguresOfParts holds the figures of traces that lack events: each kind that matters, one
// in several, the beginning or the end. A line has a sum over all figures; see TestFigures.
func TestFiguresOfParts(t *testing.T) {
	extent.Golden(t, "testdata/parts.txt", figuresOfParts(t, false, false))
}

func figuresOfParts(t *testing.T, live, reuse bool) string {
	type lacks = func(n int, ev *trace.Event) bool
	const half = 1000 // about
	parts := []struct {
		name string
		lacks
	}{
		{"the beginning", func(n int, _ *trace.Event) bool { return n < half }},
		{"the end", func(n int, _ *trace.Event) bool { return n > half }},
		{"the middle", func(n int, _ *trace.Event) bool { return n > half-37 && n < half+37 }},
	}
	for _, of := range []int{2, 3, 7, 19, 101} {
		parts = append(parts, struct {
			name string
			lacks
		}{fmt.Sprintf("one of %d", of), func(n int, _ *trace.Event) bool { return n%of == 0 }})
	}
	for _, kind := range []clr.Kind{
		clr.KindGCStart, clr.KindGCEnd, clr.KindGCSuspendEEBegin, clr.KindGCSuspendEEEnd, clr.KindGCRestartEEBegin, clr.KindGCRestartEEEnd,
		clr.KindGCHeapStats, clr.KindGCPerHeapHistory, clr.KindGCGlobalHeapHistory, clr.KindGCAllocationTick, clr.KindGCDynamicEvent, clr.KindGCMarkWithType,
	} {
		is := func(ev *trace.Event) bool { return ev.Desc.Provider == kind.Provider() && ev.Desc.ID == kind.ID() }
		nth := 0
		parts = append(parts, struct {
			name string
			lacks
		}{fmt.Sprintf("all of %v", kind), func(_ int, ev *trace.Event) bool { return is(ev) }}, struct {
			name string
			lacks
		}{fmt.Sprintf("one in five of %v", kind), func(n int, ev *trace.Event) bool {
			if n == 1 {
				nth = 0
			}
			if is(ev) {
				nth++
			}
			return is(ev) && nth%5 == 0
		}})
	}
	var b strings.Builder
	for _, name := range []string{"net10-wks-background-collect.nettrace.gz", "net8-srv-background.nettrace.gz", "net31-net9-lttng.trace.zip"} {
		for _, of := range parts {
			for _, told := range []bool{false, true} {
				in, err := open.File(filepath.Join("../testdata", name), open.Options{Want: gc.Wants})
				if err != nil {
					t.Fatal(err)
				}
				m := gc.Model{Live: live, Reuse: reuse}
				all := make(figures)
				var n, complete, affected int
				for c, err := range m.Collections(&part{Source: in.Source, lacks: of.lacks, told: told}) {
					if err != nil {
						t.Fatal(err)
					}
					if err := impossible(c); err != nil {
						t.Error(err)
					}
					n++
					complete += map[bool]int{true: 1}[c.Complete]
					affected += map[bool]int{true: 1}[c.AffectedByLoss]
					all.add("", int64(c.Number), reflect.ValueOf(*c))
				}
				for _, p := range m.Processes() {
					all.add("Process", 1, reflect.ValueOf(*p))
				}
				in.Close()
				var text strings.Builder
				all.write(&text)
				fmt.Fprintf(&b, "%s lacks %s, told %v: %d collections, %d complete, %d affected, sum %08x\n",
					name, of.name, told, n, complete, affected, crc32.ChecksumIEEE([]byte(text.String())))
			}
		}
	}
	return b.String()
}
