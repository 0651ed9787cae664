package whatif

import "testing"

// TestKeep checks that the results of keep give the same budgets as the collections they were
// made from, on workstation GC and on server GC with DATAS.
func TestKeep(t *testing.T) {
	for _, name := range []string{"net10-wks-web-collect", "net9-srv-datas-web-collect"} {
		n := 0
		for p, all := range collections(t, "../../testdata/"+name+".nettrace.gz") {
			var l BudgetLearner
			for _, c := range all {
				l.Add(c)
			}
			whole, kept := NewRecomputer(l.Limits(p)), NewRecomputer(l.Limits(p))
			for _, c := range all {
				n += compareBudgets(t, kept.Next(keep(c).collection()), whole.Next(c))
			}
			n += compareBudgets(t, kept.End(), whole.End())
		}
		if n < 50 {
			t.Errorf("%s: %d budgets", name, n)
		}
	}
}

// compareBudgets compares budgets of equal collections, and returns how many there are.
func compareBudgets(t *testing.T, got, want []Budget) int {
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
