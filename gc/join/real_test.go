package join_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// The states of each heap sum to the pause that package gc finds, in real
// traces of server collectors.
func TestSumsToThePause(t *testing.T) {
	for _, name := range []string{"real-aspnet-datas", "net10-srv-nodatas-background-verbose"} {
		path := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", "eventpipe", name+".nettrace.gz")
		if _, err := os.Stat(path); err != nil {
			t.Skipf("no trace %s", name)
		}
		in, err := open.File(path, open.Options{Want: pass.Wants(new(gc.Model), new(join.Model))})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		joined := map[uint32]*join.Collection{}
		joins := join.Model{Done: func(c *join.Collection) {
			d := *c
			d.Rows = slices.Clone(c.Rows)
			joined[c.Number] = &d
		}}
		var model gc.Model
		var all []*gc.Collection
		for c, err := range model.Collections(in.Source, &joins) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		held := 0
		for _, c := range all {
			j := joined[c.Number]
			if !c.Complete {
				continue
			}
			if j == nil {
				t.Errorf("%s: GC %d has no joins", name, c.Number)
				continue
			}
			states := map[uint32]time.Duration{}
			for _, r := range j.Rows {
				states[r.Heap] += r.Working + r.Waiting + r.Waking
			}
			for heap, sum := range states {
				held++
				if off := (sum - c.Pause().Or(0)).Abs(); off > c.Pause().Or(0)/100 {
					t.Errorf("%s: GC %d: the states of heap %d sum to %v, the pause is %v", name, c.Number, heap, sum, c.Pause().Or(0))
				}
			}
		}
		if held < len(all) {
			t.Errorf("%s: %d heaps of %d collections were compared", name, held, len(all))
		}
	}
}
