//go:build !windows

package trial

import (
	"context"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gctrail/gctrail/internal/proc"
)

// peak finds the most memory that a process had.
//
// Linux counts what the process that starts another has at that moment as the peak of the new
// one (exec_mmap, setmax_mm_hiwater_rss), because both share their memory until then. Below
// gctrail's own peak the figure says nothing, so that the memory is sampled as well.
type peak struct {
	own     int64 // gctrail's peak when the process was started
	sampled atomic.Int64
	done    sync.WaitGroup
}

// sampleInterval is how often the memory of a process is read.
const sampleInterval = 20 * time.Millisecond

// follow reads the memory of a process until ctx is done.
func (p *peak) follow(ctx context.Context, pid int) {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		p.own = residentBytes(&own)
	}
	if runtime.GOOS != "linux" {
		return
	}
	reader := proc.NewMemoryReader(pid)
	p.done.Go(func() {
		tick := time.NewTicker(sampleInterval)
		defer tick.Stop()
		for {
			p.sampled.Store(max(p.sampled.Load(), reader.Peak().Or(0)))
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

func (p *peak) wait() { p.done.Wait() }

// of returns the peak of a process that has ended, and of what it started; NaN if unknown.
func (p *peak) of(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return math.NaN()
	}
	most := residentBytes(usage)
	if runtime.GOOS == "linux" && most <= p.own {
		most = p.sampled.Load()
	}
	if most == 0 {
		return math.NaN()
	}
	return float64(most)
}

// residentBytes returns ru_maxrss, which is in kilobytes but on macOS.
func residentBytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}
