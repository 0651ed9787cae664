//go:build linux || windows

package proc

import "time"

// threadTimes add up the times of a process's threads.
type threadTimes struct {
	threads map[string]*thread // by id
	began   bool               // the first sample was taken
	run     time.Duration
	wait    time.Duration
	roles   [len(roleNames)]time.Duration // run of the threads with each role
	rounds  uint64                        // of reading the threads
}

// A thread holds the latest figures of a thread.
type thread struct {
	run, wait int64 // nanoseconds
	round     uint64
	role      role
	asked     int // how often its name was read
}

func newThreadTimes() threadTimes { return threadTimes{threads: map[string]*thread{}} }

// advance adds how long a thread ran and waited since it was read last: all of its time if
// the thread, or another one with its id, began after that.
func (r *threadTimes) advance(name string, run, wait int64, ask func() role) {
	t := r.threads[name]
	if t == nil {
		t = new(thread)
		r.threads[name] = t
		if !r.began {
			t.run, t.wait = run, wait
		}
	}
	if run < t.run || wait < t.wait {
		*t = thread{}
	}
	if t.asked < askings {
		t.role = ask()
		t.asked++
	}
	ran := time.Duration(run - t.run)
	r.run += ran
	r.roles[t.role] += ran
	r.wait += time.Duration(wait - t.wait)
	t.run, t.wait, t.round = run, wait, r.rounds
}

// forget drops the threads that the current round did not find.
func (r *threadTimes) forget() {
	for name, t := range r.threads {
		if t.round != r.rounds {
			delete(r.threads, name)
		}
	}
}
