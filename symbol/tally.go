package symbol

import (
	"cmp"
	"maps"
	"slices"
)

// A Tally counts samples by what is known of their stacks. The zero Tally is
// ready for use.
type Tally struct {
	Samples int64
	// NoStack are those that came without one, Other those whose stack there was
	// no room for.
	NoStack, Other int64
	// Frames are the frames of the others, by why they have no name.
	Frames [NumReasons]int64

	native map[string]int64
}

// Add counts n samples of a stack.
func (t *Tally) Add(s *Stacks, id StackID, n int64) {
	t.Samples += n
	switch id {
	case NoStack:
		t.NoStack += n
	case OtherStacks:
		t.Other += n
	}
	for f := range s.Frames(id) {
		t.Frames[f.Why] += n
		if f.Why == Native {
			if t.native == nil {
				t.native = make(map[string]int64)
			}
			t.native[f.Module] += n
		}
	}
}

// All returns the number of frames.
func (t *Tally) All() int64 {
	var all int64
	for _, n := range t.Frames {
		all += n
	}
	return all
}

// NativeModules returns the files that most of the native frames are in, at
// most n.
func (t *Tally) NativeModules(n int) []string {
	names := slices.SortedFunc(maps.Keys(t.native), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.native[b], t.native[a]), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}
