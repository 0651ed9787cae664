package trace

import "testing"

// TestIncomplete: each sign of missing events alone makes a trace incomplete; late events
// are in the trace.
func TestIncomplete(t *testing.T) {
	var uncounted Loss
	uncounted.Add(0, 1, 2)
	for name, test := range map[string]struct {
		loss Loss
		want bool
	}{
		"nothing": {Loss{}, false}, "late": {Loss{Late: 3, Exactness: Exact}, false},
		"counted": {Loss{Events: 1}, true}, "uncounted": {uncounted, true}, "truncated": {Loss{Truncated: true}, true},
		"damaged": {Loss{Damaged: 1}, true}, "streams": {Loss{StreamsUnknown: true}, true},
	} {
		if got := test.loss.Incomplete(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
