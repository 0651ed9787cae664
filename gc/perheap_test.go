package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// The heaps' parts sum to the generations, also of the .NET Framework's histories.
func TestPerHeap(t *testing.T) {
	for name, heaps := range map[string]int{"net9-srv-datas-web-collect.nettrace.gz": 2, "netfx452-win-x64-head.etl.zip": 1} {
		in, err := open.File("../testdata/"+name, open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		model := gc.Model{PerHeap: true}
		most := 0
		for c, err := range model.Collections(in.Source) {
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, len(c.PerHeap))
			for i, g := range c.Generations {
				var before, after, survived int64
				for _, h := range c.PerHeap {
					before += h.Generations[i].Before
					after += h.Generations[i].After.Or(0)
					survived += h.Generations[i].Out
				}
				if before != g.Before || after != g.After.Or(0) || survived != g.Out {
					t.Errorf("%s, GC %d, %s: the heaps' %d, %d and %d, expected %d, %d and %d",
						name, c.Number, g.Name, before, after, survived, g.Before, g.After.Or(0), g.Out)
				}
			}
		}
		if most != heaps {
			t.Errorf("%s: at most %d heaps, expected %d", name, most, heaps)
		}
		in.Close()
	}
}
