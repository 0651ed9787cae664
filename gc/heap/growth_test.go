package heap_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// leaking returns the snapshots of a program that adds 6,000 objects to a static list between
// one and the next.
func leaking(t *testing.T) []*heap.Snapshot {
	t.Helper()
	return dotnettest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz")
}

// TestGrown checks the growth of types in objects and in bytes, and that nothing grows from a
// snapshot to itself.
func TestGrown(t *testing.T) {
	all := leaking(t)
	grown := heap.Grown(all[0], all[2])
	var objects, bytes int64
	found := 0
	for _, g := range grown {
		objects += g.Objects
		bytes += g.Bytes
		if name := g.Type.String(); name == "Shop.Leak" || name == "System.Byte[]" && g.Objects == 6000 {
			found++
		}
	}
	if found != 2 || objects != all[2].Objects-all[0].Objects || bytes != all[2].Bytes-all[0].Bytes {
		t.Errorf("%d objects, %d bytes: %+v", objects, bytes, grown)
	}
	if grown := heap.Grown(all[1], all[1]); len(grown) > 0 {
		t.Errorf("%+v", grown)
	}
	if back := heap.Grown(all[2], all[0]); back[len(back)-1].Bytes != -grown[0].Bytes {
		t.Errorf("%+v, and back %+v", grown[0], back[len(back)-1])
	}
}

// TestComparable: a snapshot with holes, which was taken again, is not compared.
func TestComparable(t *testing.T) {
	all := leaking(t)
	holed := *all[1]
	holed.Missing.Events, holed.Graph = 1, nil
	for _, some := range [][]*heap.Snapshot{{&holed, all[0], all[2]}, {all[0], &holed, all[2]}, {all[0], all[2], &holed}} {
		if got := heap.Comparable(some); !slices.Equal(got, []*heap.Snapshot{all[0], all[2]}) {
			t.Errorf("%v", got)
		}
		if s := heap.Suspects(some); len(s) != 1 || s[0].Snapshots != 2 {
			t.Errorf("%+v", s)
		}
	}
	few := []*heap.Snapshot{&holed, all[2]}
	if got := heap.Comparable(few); !slices.Equal(got, few) || heap.Suspects(few) != nil {
		t.Errorf("%v", got)
	}
}

// TestSuspects: the static list to which objects are added is the suspect; nothing is where
// nothing grew, where the growth ended, or where a snapshot has no objects.
func TestSuspects(t *testing.T) {
	all := leaking(t)
	for _, some := range [][]*heap.Snapshot{all, all[:2], all[1:]} {
		suspects := heap.Suspects(some)
		if len(suspects) != 1 {
			t.Fatalf("%+v", suspects)
		}
		s := suspects[0]
		path := ""
		for _, typ := range s.Path {
			path += " > " + typ.String()
		}
		got := fmt.Sprintf("%v %s%s, %d objects hold %s", s.Root.Kind, s.Root.Field, path, s.Objects, s.Held[0])
		const want = "static leak > System.Collections.Generic.List`1[Shop.Leak] > Shop.Leak[], 1 objects hold Shop.Leak"
		if got != want || s.Share < 0.9 || s.Share > 1.1 || s.Grew <= 0 || s.Grew > s.Retained || s.Snapshots != len(some) {
			t.Errorf("%s, %+v", got, s)
		}
	}
	if s := heap.Suspects(all); s[0].Held[0].Objects != 5999 { // and one is in a variable, too
		t.Errorf("it holds %d", s[0].Held[0].Objects)
	}
	lost := *all[1]
	lost.Graph = nil
	for name, some := range map[string][]*heap.Snapshot{
		"one": all[:1], "the same": {all[1], all[1]}, "smaller": {all[2], all[0]}, "it ended": {all[0], all[2], all[2]}, "filled once": {all[0], all[2], all[1]},
		"no objects": {all[0], &lost, all[2]},
	} {
		if s := heap.Suspects(some); len(s) > 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestSuspectsOfKinds: each kind of leak has one suspect, whose sentence leads to what grows.
func TestSuspectsOfKinds(t *testing.T) {
	const retained = `, .* retained; it grew by .* kB`
	for trace, says := range map[string]string{
		"leak-event":  `one object: feed \(static\) → Shop.Feed → System.EventHandler → System.Object\[\] → 116 × System.EventHandler → Shop.View` + retained,
		"leak-timer":  `one object: <Instances>k__BackingField \(static\) → System.Threading.TimerQueue\[\] → System.Threading.TimerQueue → 120 × System.Threading.TimerQueueTimer → System.Threading.TimerCallback → Shop.Poller` + retained + " between two snapshots, which do not show whether it still grows",
		"leak-async":  `one object: shutdown \(static\) → System.Threading.CancellationTokenSource → Registrations → 120 × CallbackNode → System.Threading.ExecutionContext → OneElementAsyncLocalValueMap → Shop.Request` + retained + " between .*",
		"leak-table":  "one object: orders \\(static\\) → System.Collections.Generic.List`1\\[Shop.Order\\] → Shop.Order\\[\\] → 120 × Shop.Order → Shop.Audit \\(by a dependent handle, as of a ConditionalWeakTable\\)" + retained + " between .*",
		"leak-handle": `120 objects of one type: a strong handle → Shop.Buffer` + retained + " between .*",
	} {
		suspects := heap.Suspects(dotnettest.Snapshots(t, "../../testdata/net10-wks-"+trace+".nettrace.gz"))
		if len(suspects) != 1 || !regexp.MustCompile("^100 % of the growth hangs on "+says+"$").MatchString(suspects[0].String()) {
			t.Errorf("%s: %+v", trace, suspects)
		} else if sure := map[int]string{2: "medium", 3: "high"}[suspects[0].Snapshots]; suspects[0].Confidence() != sure {
			t.Errorf("%s: confidence %s", trace, suspects[0].Confidence())
		}
	}
}

// TestFilledCache: a cache that becomes full soon after the second of three snapshots is
// no suspect; of the first two, nobody can say.
func TestFilledCache(t *testing.T) {
	all := dotnettest.Snapshots(t, "../../testdata/net10-wks-cache-once.nettrace.gz")
	if s := heap.Suspects(all[:2]); len(s) != 1 {
		t.Errorf("while it is filled: %+v", s)
	}
	for _, some := range [][]*heap.Snapshot{all, all[1:]} {
		if s := heap.Suspects(some); len(s) > 0 {
			t.Errorf("when it is full: %+v", s)
		}
	}
}

// TestSuspectsOfPairs: of two snapshots that were taken together, as runtimes before .NET 10
// do, one counts, though nothing grew from one to the other.
func TestSuspectsOfPairs(t *testing.T) {
	var pairs []*heap.Snapshot
	for i, s := range leaking(t) {
		at := time.Duration(i) * time.Minute
		for _, d := range []time.Duration{0, time.Second} {
			again := *s
			again.Start, again.End = gc.Some(at+d), gc.Some(at+d+100*time.Millisecond)
			pairs = append(pairs, &again)
		}
	}
	if s := heap.Suspects(pairs); len(s) != 1 || s[0].Snapshots != 3 {
		t.Errorf("%+v", s)
	}
	if s := heap.Suspects(pairs[1:4]); len(s) != 1 || s[0].Confidence() != "medium" {
		t.Errorf("of two pairs: %+v", s)
	}
}
