package gc

import "testing"

// TestSurvival: survivors are padded, but do not exceed the objects before.
func TestSurvival(t *testing.T) {
	for _, c := range []struct {
		before, free, survived int64
		want                   Opt[float64]
	}{
		{before: 1000, free: 200, survived: 400, want: Some(50.0)},
		{before: 1000, want: Some(0.0)},
		{before: 5072, survived: 6512, want: Some(100.0)},
		{before: 30_843_552, survived: 30_934_016, want: Some(100.0)},
		{before: 30_843_552, survived: 32_000_000},
		{before: 1000, survived: 100_000},
		{before: 1000, free: 1000, survived: 3808},
		{},
	} {
		g := generation{before: c.before, freeBefore: c.free, survived: c.survived}
		if got := g.survival(); got != c.want {
			t.Errorf("%+v: %v, expected %v", c, got, c.want)
		}
	}
}
