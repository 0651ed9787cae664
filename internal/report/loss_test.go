package report

import "testing"

// TestIncompleteText: collections of several processes come in time order.
func TestIncompleteText(t *testing.T) {
	for _, test := range []struct {
		numbers []uint32
		want    string
	}{
		{[]uint32{7}, "collection 7 is incomplete"},
		{[]uint32{9, 7}, "collections 7 and 9 are incomplete"},
		{[]uint32{75, 31, 63}, "3 collections between 31 and 75 are incomplete"},
	} {
		if got := incompleteText(test.numbers); got != test.want {
			t.Errorf("%v: %q, want %q", test.numbers, got, test.want)
		}
	}
}
