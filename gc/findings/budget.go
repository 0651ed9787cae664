package findings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// A Budget is how much pauses may cost before the garbage collector is to blame. A zero
// field means the default: 5 % of the time, because mem-doc calls that normal, and 100 ms
// for the longest pause, from PerfView's guide.
type Budget struct {
	Share float64       // percent of the time
	Pause time.Duration // the longest
}

const (
	defaultShare = 5
	defaultPause = 100 * time.Millisecond
)

// ParseBudget parses a longest pause ("50ms"), a share of the time ("5%"), or
// both with a comma between them.
func ParseBudget(s string) (Budget, error) {
	var b Budget
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if percent, ok := strings.CutSuffix(part, "%"); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
			if err != nil || !(v > 0 && v <= 100) {
				return Budget{}, fmt.Errorf("%q is not a share of the time, such as 5%%", part)
			}
			b.Share = v
			continue
		}
		d, err := time.ParseDuration(part)
		if err != nil || d <= 0 {
			return Budget{}, fmt.Errorf("%q is neither a longest pause, such as 50ms, nor a share of the time, such as 5%%", part)
		}
		b.Pause = d
	}
	return b, nil
}

// String returns the budget, with the defaults, in the form that ParseBudget reads.
func (b Budget) String() string {
	b = b.orDefault()
	return fmt.Sprintf("%v,%s%%", b.Pause, strconv.FormatFloat(b.Share, 'g', -1, 64))
}

func (b Budget) orDefault() Budget {
	if b.Share <= 0 {
		b.Share = defaultShare
	}
	if b.Pause <= 0 {
		b.Pause = defaultPause
	}
	return b
}

// high returns the share at which pauses are a clear problem: twice the budget.
func (b Budget) high() float64 { return min(100, 2*b.Share) }

// level rates a share of the time: 0 within the budget, 1 beyond it, 2 for a clear
// problem.
func (b Budget) level(share float64) int {
	switch {
	case share >= b.high():
		return 2
	case share >= b.Share:
		return 1
	default:
		return 0
	}
}

// share formats the budget's share.
func (b Budget) share() string { return strconv.FormatFloat(b.Share, 'g', 3, 64) + " %" }

func (b Budget) pause() string { return units.Duration(b.Pause) }
