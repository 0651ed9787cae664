package symbol

import (
	"cmp"
	"maps"
	"slices"
)

// A Tally counts how many frames of samples have names. The zero Tally is ready
// for use.
type Tally struct {
	Samples int64
	// NoStack counts samples without a stack, Other samples whose stack had no room in
	// Stacks.
	NoStack, Other int64
	// Frames counts the frames of all other samples, by Reason.
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

// NativeModules returns the files with the most native frames, at most n.
func (t *Tally) NativeModules(n int) []string {
	names := slices.SortedFunc(maps.Keys(t.native), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.native[b], t.native[a]), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}
