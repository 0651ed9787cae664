package trace

import (
	"slices"
	"testing"
)

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

// TestClip adds losses before, across and after the end of a trace: none remains after it.
func TestClip(t *testing.T) {
	for _, test := range []struct{ ranges, want []Range }{
		{nil, nil},
		{[]Range{{1, 2}}, []Range{{1, 2}}},
		{[]Range{{1, 2}, {8, 12}}, []Range{{1, 2}, {8, 10}}},
		{[]Range{{8, 12}, {15, 20}, {30, 40}}, []Range{{8, 10}}},
		{[]Range{{1, 2}, {15, 20}, {30, 40}}, []Range{{1, 2}, {10, 10}}},
	} {
		var l Loss
		for _, r := range test.ranges {
			l.Add(0, r.From, r.To)
		}
		if l.Clip(10); !slices.Equal(l.Ranges(), test.want) {
			t.Errorf("%v: %v, want %v", test.ranges, l.Ranges(), test.want)
		}
	}
}
