package watch

import (
	"context"
	"time"

	"github.com/gctrail/gctrail/internal/proc"
)

const (
	// memoryInterval is how often the memory of processes is read.
	memoryInterval = time.Second
	// anew is the number of readings after which the cgroup is looked up again.
	anew = 60
)

// A memory holds the system's readings of a process's memory. Only measureMemory uses it,
// except for the latest sample, which the Watcher's lock guards.
type memory struct {
	reader   *proc.MemoryReader
	readings int
	latest   proc.MemorySample
}

// measureMemory reads the memory of watched processes until ctx ends.
func (w *Watcher) measureMemory(ctx context.Context) {
	tick := time.NewTicker(memoryInterval)
	defer tick.Stop()
	for {
		for _, m := range w.memories() {
			w.measure(m)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// memories returns the memories of running processes that have an id here.
func (w *Watcher) memories() []*memory {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*memory
	for _, r := range w.rows {
		if r.state != Watched || r.process.PID == 0 {
			continue
		}
		if r.memory.reader == nil {
			r.memory.reader = proc.NewMemoryReader(r.process.PID)
		}
		all = append(all, &r.memory)
	}
	return all
}

// measure reads the memory of a process. A figure that cannot be read stays unchanged.
func (w *Watcher) measure(m *memory) {
	s, err := m.reader.Read(m.readings%anew == 0)
	m.readings++
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m.latest = s
}
