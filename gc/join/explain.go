package join

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/units"
)

// Explain returns why other heaps waited for the heap, as a sentence.
func (s *Straggler) Explain() string {
	switch s.Cause {
	case UnevenRoots:
		return fmt.Sprintf("It marked %s, %.1f times the mean of the heaps; most of the excess comes from root kind %s.",
			units.Bytes(s.Marked.Or(0)), s.MarkedRatio.Or(0), s.Root)
	case SlowWake:
		return fmt.Sprintf("Its thread took %s to wake up: the processors are busy with other threads.", units.Duration(s.Waking))
	case AllSlowWake:
		return fmt.Sprintf("The threads of all heaps took %s to wake up: the processors are busy with other threads, or a CPU limit (a container's quota) keeps the process from them.",
			units.Duration(s.Waking))
	case SlowWork:
		return "It worked longer than the others without marking more: its thread was preempted, or its memory is slower."
	default:
		return "No heap stands out: phases of unequal length cause the waiting."
	}
}
