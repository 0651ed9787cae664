package watch

import (
	"context"
	"time"

	"github.com/gctrail/gctrail/internal/procmem"
)

const (
	// memoryInterval is how often the memory of processes is read.
	memoryInterval = time.Second
	// anew is how many readings use the cgroup that was found for the first of them.
	anew = 60
)

// A memory is what the system says of a process's memory. Only measureMemory uses it,
// but for the latest sample, which belongs to the Watcher's lock.
type memory struct {
	reader   *procmem.Reader
	readings int
	latest   procmem.Sample
}

// measureMemory reads the memory of the processes that are watched until ctx ends.
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

// memories returns those of processes that run and have an id here.
func (w *Watcher) memories() []*memory {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*memory
	for _, r := range w.rows {
		if r.state != Watched || r.process.PID == 0 {
			continue
		}
		if r.memory.reader == nil {
			r.memory.reader = procmem.NewReader(r.process.PID)
		}
		all = append(all, &r.memory)
	}
	return all
}

// measure reads the memory of a process; what cannot be read stays as it was.
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
