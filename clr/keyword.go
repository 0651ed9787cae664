package clr

import "iter"

// Levels of events.
const (
	LevelCritical      = 1 // at which the GC raises no events
	LevelInformational = 4
	LevelVerbose       = 5
)

// Keywords yields the keywords of the runtime's provider with their bits, in the order
// of the bits. If a bit has two names, the newer one comes last.
func Keywords() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for _, k := range keywords {
			if !yield(k.name, k.bits) {
				return
			}
		}
	}
}
