package proc

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/eventpipe"
)

const (
	// Interval is the time between readings of a recorded process. It is that short
	// because it must be shorter than the usual distance between pauses that matter.
	Interval = 250 * time.Millisecond
	// limitsInterval is the time between readings of limits. It is long, because limits
	// rarely change.
	limitsInterval = 10 * time.Second
	// costShare bounds the cost of reading, as a share of a processor. It counts
	// processor time, so that a process with thousands of threads is read less often, but
	// not one on a machine without free processors, where reading takes long.
	costShare = 0.005
)

// A Stream is the trace of a session to which events of the provider gctrail are added: the
// processor time that the process gets, its processors and its limits.
type Stream struct {
	*eventpipe.Inserter
	reader *ProcessorReader
	memory *MemoryReader
	limits clr.ProcessLimits
	read   time.Time // when limits were read
	known  bool      // they were added
	mu     sync.Mutex
}

// NewStream returns the Stream of a session with process pid, and reads that process for the
// first time.
func NewStream(session io.Reader, pid int) *Stream {
	s := &Stream{Inserter: eventpipe.NewInserter(session), reader: NewProcessorReader(pid), memory: NewMemoryReader(pid)}
	s.Sample()
	return s
}

// Run reads the process until ctx is done or the process has ended, at an interval.
func (s *Stream) Run(ctx context.Context, every time.Duration) {
	wait := every
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		cost, ok := s.Sample()
		if !ok {
			return
		}
		wait = max(every, time.Duration(float64(cost)/costShare))
	}
}

// Sample reads the process now, and returns the processor time that this took; false if the
// process cannot be read.
func (s *Stream) Sample() (cost time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.read) >= limitsInterval {
		s.read = now
		s.readLimits(now)
	}
	sample, err := s.reader.Read(new(Scan))
	if err != nil {
		return 0, false
	}
	for _, e := range sample.Events() {
		s.add(now, e)
	}
	return sample.Cost, true
}

// readLimits adds the limits if they are new.
func (s *Stream) readLimits(now time.Time) {
	e := s.reader.Limits()
	if m, err := s.memory.Read(true); err == nil {
		e.MemoryLimit = uint64(m.Limit.Or(0))
	}
	if e.Processors == 0 || s.known && slices.Equal(e.Append(nil, 0, 8), s.limits.Append(nil, 0, 8)) {
		return
	}
	s.limits, s.known = e, true
	s.add(now, &e)
}

func (s *Stream) add(at time.Time, e clr.Event) {
	d := descriptors[e.EventKind()]
	s.Add(d, at, e.Append(nil, d.Version, 8))
}

// Events returns the events for the known figures.
func (s *ProcessorSample) Events() []clr.Event {
	var all []clr.Event
	if run, known := s.Run.Get(); known {
		all = append(all, &clr.ProcessThreadTime{
			Threads: uint32(s.Threads.Or(0)), RunNanoseconds: uint64(run),
			WaitNanoseconds: uint64(s.Wait.Or(0)), WaitUnknown: !s.Wait.Known(),
		})
	}
	if n, known := s.GCThreads.Get(); known {
		all = append(all, &clr.GCThreadTime{
			Threads: uint32(n), ServerNanoseconds: uint64(s.ServerGC.Or(0)), BackgroundNanoseconds: uint64(s.BackgroundGC.Or(0)),
		})
	}
	if periods, known := s.Periods.Get(); known && s.Throttled.Known() && s.ThrottledFor.Known() {
		all = append(all, &clr.ProcessThrottling{
			Periods: uint64(periods), ThrottledPeriods: uint64(s.Throttled.Or(0)), ThrottledNanoseconds: uint64(s.ThrottledFor.Or(0)),
		})
	}
	if d, known := s.Machine.Get(); known {
		all = append(all, &clr.MachinePressure{WaitMicroseconds: uint64(d.Microseconds())})
	}
	if d, known := s.Cgroup.Get(); known {
		all = append(all, &clr.CgroupPressure{WaitMicroseconds: uint64(d.Microseconds())})
	}
	if busy, known := s.Busy.Get(); known {
		all = append(all, &clr.MachineTime{BusyNanoseconds: uint64(busy), StolenNanoseconds: uint64(s.Stolen.Or(0))})
	}
	return all
}
