package gc_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/nettracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// The heaps' parts sum to the generations.
func TestPerHeap(t *testing.T) {
	data := nettracetest.Gunzip(t, "../testdata/net9-srv-datas-web-collect.nettrace.gz")
	model := gc.Model{PerHeap: true}
	several := 0
	for c, err := range model.Collections(nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			t.Fatal(err)
		}
		if len(c.PerHeap) > 1 {
			several++
		}
		for i, g := range c.Generations {
			var before, after, survived int64
			for _, h := range c.PerHeap {
				before += h.Generations[i].Before
				after += h.Generations[i].After.Or(0)
				survived += h.Generations[i].Out
			}
			if before != g.Before || after != g.After.Or(0) || survived != g.Out {
				t.Errorf("GC %d %s: the heaps' %d, %d and %d, expected %d, %d and %d", c.Number, g.Name, before, after, survived, g.Before, g.After.Or(0), g.Out)
			}
		}
	}
	if several == 0 {
		t.Error("no collection has several heaps")
	}
}
