package budget_test

import (
	"testing"

	"github.com/gctrail/gctrail/gc/budget"
)

// TestKeep checks that the results of Keep give the same budgets as the collections they were
// made from, on workstation GC and on server GC with DATAS.
func TestKeep(t *testing.T) {
	for _, name := range []string{"net10-wks-web-collect", "net9-srv-datas-web-collect"} {
		n := 0
		for p, all := range collections(t, "../../testdata/"+name+".nettrace.gz") {
			var l budget.Learner
			for _, c := range all {
				l.Add(c)
			}
			whole, kept := budget.New(l.Limits(p)), budget.New(l.Limits(p))
			for _, c := range all {
				n += compareBudgets(t, kept.Next(budget.Keep(c).Collection()), whole.Next(c))
			}
			n += compareBudgets(t, kept.End(), whole.End())
		}
		if n < 50 {
			t.Errorf("%s: %d budgets", name, n)
		}
	}
}

// compareBudgets compares budgets of equal collections, and returns how many there are.
func compareBudgets(t *testing.T, got, want []budget.Budget) int {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d budgets, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Collection.Number != w.Collection.Number {
			t.Errorf("collection %d, want %d", g.Collection.Number, w.Collection.Number)
		}
		g.Collection, w.Collection = nil, nil
		if g != w {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	return len(want)
}
