package watch

import (
	"context"
	"io"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/hostevents"
)

// hostInterval is how often the processors of a watched process are read.
const hostInterval = time.Second

// throughHost adds what the system gives a process to its trace.
func throughHost(ctx context.Context, process *diag.Process, trace io.Reader) io.Reader {
	if process.PID <= 0 {
		return trace
	}
	s := hostevents.New(trace, process.PID)
	go s.Run(ctx, hostInterval)
	return s
}
