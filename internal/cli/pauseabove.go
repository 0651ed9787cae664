package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

// A pauseAbove is a flag that takes the shortest pause to list: a length, or a percentile of
// the pauses that the other flags select.
type pauseAbove struct {
	given      string
	length     time.Duration
	percentile float64 // 0 if a length was given
}

func (p *pauseAbove) Type() string { return "TIME|pN" }

func (p *pauseAbove) String() string { return p.given }

func (p *pauseAbove) Set(s string) error {
	*p = pauseAbove{given: s}
	if of, ok := strings.CutPrefix(strings.ToLower(s), "p"); ok {
		v, err := strconv.ParseFloat(of, 64)
		if err != nil || !(v > 0 && v <= 100) {
			return errors.New("must be a percentile above p0 and up to p100, as in p99 or p99.9")
		}
		p.percentile = v
		return nil
	}
	var d selection.Duration
	if err := d.Set(s); err != nil {
		return errors.New("must be a length, as in 50ms, or a percentile, as in p99")
	}
	p.length = time.Duration(d)
	return nil
}

// thresholds finds the shortest pause that --pause-above lists, for each process. For a
// percentile the trace is read twice, because it is computed over all collections that the
// other flags select.
func (o *gcsOptions) thresholds(ctx context.Context, std *stdio, paths []string) (map[uint64]time.Duration, error) {
	if o.pauseAbove.percentile == 0 {
		return nil, nil
	}
	r, err := std.read(ctx, paths, open.Options{Want: gc.Wants, Head: gc.Head})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var pauses sums[uint64, report.Threshold]
	var m gc.Model
	for c, err := range r.Collections(&m) {
		if err != nil {
			return nil, err
		}
		pause, known := c.Pause().Get()
		if !known || !o.keeps(r, c) {
			continue
		}
		pauses.of(c.Process.PID).Add(pause)
	}
	least := make(map[uint64]time.Duration)
	for pid, d := range pauses.by {
		least[pid] = d.Percentile(o.pauseAbove.percentile)
	}
	return least, nil
}

// isLong reports whether a collection's pause is long enough for --pause-above.
func (o *gcsOptions) isLong(c *gc.Collection, thresholds map[uint64]time.Duration) bool {
	switch {
	case o.pauseAbove.given == "":
		return true
	case o.pauseAbove.percentile == 0:
		return len(c.Pauses) > 0 && pausesSeen(c) >= o.pauseAbove.length
	default:
		least, known := thresholds[c.Process.PID]
		return known && pausesSeen(c) >= least
	}
}
