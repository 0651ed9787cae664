package figure

import (
	"time"

	"github.com/gctrail/gctrail/trace"
)

// AppendMillis appends d in milliseconds, exactly and without trailing zeros.
func AppendMillis(dst []byte, d time.Duration) []byte { return trace.Millis(d).Append(dst) }
