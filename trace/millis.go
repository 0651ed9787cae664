package trace

import (
	"strconv"
	"time"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// Millis is a duration that is written in milliseconds, exactly and without trailing zeros.
type Millis time.Duration

// Append appends the milliseconds.
func (d Millis) Append(dst []byte) []byte {
	ns := uint64(d)
	if d < 0 {
		dst, ns = append(dst, '-'), -ns
	}
	dst = strconv.AppendUint(dst, ns/1e6, 10)
	rest := ns % 1e6
	if rest == 0 {
		return dst
	}
	dst = jsontext.AppendSix(append(dst, '.'), rest)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// MarshalJSON writes the milliseconds, 0 for a time before the trace's start.
func (d Millis) MarshalJSON() ([]byte, error) { return max(0, d).Append(nil), nil }
