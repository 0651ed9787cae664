package dotnettest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A waits sums up how long the threads of a process have waited for a processor. Tests that
// compare times tolerate as much, because on a busy machine a thread may wait between the
// runtime's look at the clock and its event.
type waits struct {
	mu      sync.Mutex
	threads map[string]time.Duration
}

// look adds the kernel's counts for the current threads.
func (w *waits) look(pid int) {
	found, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			w.threads[path] = time.Duration(ns)
		}
	}
}

func (w *waits) sum() (sum time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.threads {
		sum += d
	}
	return sum
}

// watch looks at a process from time to time until ended is closed.
func (w *waits) watch(pid int, ended <-chan struct{}) {
	for {
		w.look(pid)
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Waited returns how long the threads of a process have waited for a processor.
func Waited(pid int) time.Duration {
	w := waits{threads: make(map[string]time.Duration)}
	w.look(pid)
	return w.sum()
}

// Waited returns how long the program's threads have waited for a processor, as far as
// they were seen before they ended.
func (p *Program) Waited() time.Duration { return p.waits.sum() }
