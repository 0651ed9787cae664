package watch

import (
	"context"
	"io"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/proc"
)

// hostInterval is the time between readings of the processor time of a watched process.
const hostInterval = time.Second

// throughHost adds events about a process's processors to its trace.
func throughHost(ctx context.Context, process *diag.Process, trace io.Reader) io.Reader {
	if process.PID <= 0 {
		return trace
	}
	s := proc.NewStream(trace, process.PID)
	go s.Run(ctx, hostInterval)
	return s
}
