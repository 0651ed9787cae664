package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/proc"
	"github.com/gctrail/gctrail/internal/watch"
)

const (
	// beat is how often ledgers with new collections are written, and the memory of
	// processes near their limits is read. Other processes are read every second.
	beat           = 250 * time.Millisecond
	beatsPerRead   = 4
	beatsPerCgroup = 60 * beatsPerRead  // to find its cgroup and the limit of that anew
	beatsPerShares = 300 * beatsPerRead // to read memory shared with others, because that takes long
	// settled is the age at which a process gets a ledger. It is not zero, because many
	// end before.
	settled = 2 * time.Second
	// hot is the use of a limit, and growth the growth between readings, from which
	// memory is read at each beat.
	hot    = 0.7
	growth = 1.1
)

// A memory holds the readings of a process's memory. Its own lock is for reading and
// writing files; the agent's lock guards the record.
type memory struct {
	now       ledger.Record
	dirty     bool // since it was written
	hot       bool // to be read at each beat; also at first
	began     time.Time
	heapLimit heapLimit
	kills     killRise

	files   sync.Mutex
	reader  *proc.MemoryReader
	ending  *ending
	heap    heapReader
	ledger  *ledger.Writer // nil for none
	path    string
	refused bool // a ledger could not be made
	ended   bool
}

func newMemory(p *diag.Process, o *outside, now time.Time) *memory {
	m := &memory{began: now, hot: true, heapLimit: heapLimitOf(o)}
	if p.PID != 0 {
		m.reader, m.ending = proc.NewMemoryReader(p.PID), watchEnding(p.PID)
	}
	return m
}

// collected records the sizes that a collection measured.
func (m *memory) collected(c *watch.Collection) {
	r := &m.now
	if r.Time.Unix() != c.Ended.Unix() {
		r.StartSecond(c.Ended)
	}
	r.Collections = gc.Some(r.Collections.Or(0) + 1)
	for i := range c.Pauses {
		d := int64(max(0, c.Pauses[i].Duration))
		r.Paused = gc.Some(r.Paused.Or(0) + d)
		r.Longest = gc.Some(max(r.Longest.Or(0), d))
	}
	r.SetCollection(c.Collection)
	m.dirty = true
}

// sampled records the sizes that the system reports.
func (m *memory) sampled(s *proc.MemorySample, available gc.Opt[int64], now time.Time) {
	r := &m.now
	m.kills.seen(r.OOMKills, s.OOMKills, now)
	before := r.RSS.Or(0)
	if now.Unix() > r.Time.Unix() {
		r.StartSecond(now)
	}
	r.RSS, r.Anon, r.File, r.Shared, r.Swap = s.RSS, s.Anon, s.File, s.Shared, s.Swap
	r.PSS, r.Private, r.Used, r.Limit, r.OOMKills, r.Available = s.PSS, s.Private, s.Used, s.Limit, s.OOMKills, available
	heap := m.heap.latest.Before(m.heap.rss - s.RSS.Or(0))
	r.HeapLeast, r.HeapMost, r.HeapCommitted = heap.Least, heap.Most, heap.Committed
	r.HardLimit = m.heapLimit.in(s.Limit)
	limit, limited := s.Limit.Get()
	m.hot = limited && float64(s.Used.Or(0)) >= hot*float64(limit) || float64(s.RSS.Or(0)) > growth*float64(before) || m.nearHeapLimit()
	m.dirty = true
}

// nearHeapLimit reports whether the GC heap may be near its limit before the next collection.
func (m *memory) nearHeapLimit() bool {
	r := &m.now
	limit, limited := r.HardLimit.Get()
	size := max(r.Heap.Or(0), r.Committed.Or(0), r.HeapCommitted.Or(0))
	return limited && size > 0 && float64(size+r.Allocatable.Or(0)) >= hot*float64(limit)
}

// sample reads the memory of processes and writes their ledgers, beat by beat.
func (a *Agent) sample(n int, now time.Time) {
	a.mu.Lock()
	all := make([]*process, 0, len(a.processes))
	for _, p := range a.processes {
		if m := p.memory; m.dirty || m.hot || (n+p.id)%beatsPerRead == 0 {
			all = append(all, p)
		}
	}
	a.mu.Unlock()
	var available gc.Opt[int64]
	if len(all) > 0 {
		available = proc.Available()
	}
	for _, p := range all {
		a.sampleProcess(p, available, n, now)
	}
}

func (a *Agent) sampleProcess(p *process, available gc.Opt[int64], n int, now time.Time) {
	m := p.memory
	m.files.Lock()
	defer m.files.Unlock()
	if m.ended {
		return
	}
	a.mu.Lock()
	due := m.hot || (n+p.id)%beatsPerRead == 0
	anew := (n+p.id)%beatsPerCgroup == 0 || !m.now.RSS.Known()
	hot := m.hot
	a.mu.Unlock()
	var s proc.MemorySample
	err := proc.ErrUnsupported
	if m.reader != nil && due {
		if (n+p.id)%beatsPerShares == 0 {
			m.reader.ReadShares()
		}
		if s, err = m.reader.Read(anew); err == nil {
			m.readHeap(&s, hot, anew, now)
		}
	}
	a.mu.Lock()
	if err == nil {
		m.sampled(&s, available, now)
		p.measureMemory()
	}
	latest := m.now
	m.dirty = false
	a.mu.Unlock()
	if m.ledger == nil && !m.refused && now.Sub(m.began) >= settled {
		a.openLedger(p, now)
	}
	if m.ledger != nil && !latest.Time.IsZero() {
		a.ledgerFailed(p, m.ledger.Put(&latest))
	}
}

// maxCommand bounds the command line in a ledger, in bytes.
const maxCommand = 256

// openLedger makes the ledger of a process.
func (a *Agent) openLedger(p *process, now time.Time) {
	m := p.memory
	m.refused = true
	if a.config.Ledger.Folder == "" {
		return
	}
	name := fmt.Sprintf("%s_%d_%s%s", fileName(p.Name), cmp.Or(p.PID, p.InnerPID), now.UTC().Format("20060102T150405.000"), ledger.Suffix)
	a.mu.Lock()
	m.path = filepath.Join(a.config.Ledger.Folder, name)
	a.mu.Unlock()
	var command string
	if p.Info != nil {
		command = p.Info.CommandLine
	}
	w, err := ledger.Create(m.path, ledger.Process{
		PID: cmp.Or(p.PID, p.InnerPID), Name: p.Name, Command: clean(command, maxCommand), Attached: m.began, Host: a.host,
		Runtime: p.identity.text("process.runtime.version"), UID: p.identity.text(otlp.UID), Service: p.identity.text("service.name"),
		Container: p.identity.text("container.id"), Namespace: p.identity.text("k8s.namespace.name"), Pod: p.identity.text("k8s.pod.name"),
	})
	if err == nil {
		m.ledger = w
	}
	a.ledgerFailed(p, err)
}

// fileName makes a name fit for a file.
func fileName(name string) string {
	const longest = 64
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.TrimLeft(name[:min(len(name), longest)], "."), "process")
}

// ledgerFailed abandons the ledger of a process after an error, which it reports only
// once.
func (a *Agent) ledgerFailed(p *process, err error) {
	if err == nil {
		return
	}
	if p.memory.ledger != nil {
		err = errors.Join(err, p.memory.ledger.Close(nil))
		p.memory.ledger = nil
	}
	a.ledgerProblem.Do(func() { a.problem(fmt.Errorf("no ledgers: %w", err)) })
}

// bury closes the ledger of a process that has ended, and records its last memory.
func (a *Agent) bury(p *process, closed bool, now time.Time) ledger.Verdict {
	m := p.memory
	m.files.Lock()
	defer m.files.Unlock()
	m.ended = true
	a.mu.Lock()
	last := m.now
	a.mu.Unlock()
	end := &ledger.End{Time: now, Closed: closed}
	switch {
	case m.reader == nil:
	case closed:
		m.ending.stop()
	default:
		end.OOMKills = m.reader.KillsSince().Or(0) + m.kills.before(now)
		end.Signal = m.ending.signal()
	}
	l := &ledger.Ledger{End: end, Records: []ledger.Record{last}}
	if m.ledger == nil && !m.refused && !closed && !last.Time.IsZero() {
		a.openLedger(p, now)
	}
	if a.closeLedger(p, &last, end) {
		if closed && !a.config.Ledger.Exited {
			_ = os.Remove(m.path) // a remaining file is removed with the oldest
		} else if read, err := ledger.Open(m.path); err == nil {
			l = read
		}
		a.pruneLedgers()
	}
	return l.Judge()
}

// closeLedger writes the last record of a process, and how it ended, nil for unknown. It reports
// whether there was a ledger to write it to.
func (a *Agent) closeLedger(p *process, last *ledger.Record, end *ledger.End) bool {
	m := p.memory
	if m.ledger != nil {
		a.ledgerFailed(p, m.ledger.Put(last))
	}
	if m.ledger == nil {
		return false
	}
	a.ledgerFailed(p, m.ledger.Close(end))
	m.ledger = nil
	return true
}

// leave closes the ledger of a process that still runs when the agent ends.
func (a *Agent) leave(p *process) {
	m := p.memory
	m.files.Lock()
	defer m.files.Unlock()
	m.ended = true
	if m.ending != nil {
		m.ending.stop()
	}
	a.mu.Lock()
	last := m.now
	a.mu.Unlock()
	a.closeLedger(p, &last, nil)
}

// pruneLedgers removes the oldest ledgers of ended processes if there are more
// than configured.
func (a *Agent) pruneLedgers() {
	folder := a.config.Ledger.Folder
	old := newestFirst(folder, ledger.Suffix)
	open := make(map[string]bool)
	a.mu.Lock()
	for _, p := range a.processes {
		open[filepath.Base(p.memory.path)] = true
	}
	a.mu.Unlock()
	old = slices.DeleteFunc(old, func(f fs.FileInfo) bool { return open[f.Name()] })
	for _, f := range old[min(len(old), a.config.Ledger.Keep):] {
		_ = os.Remove(filepath.Join(folder, f.Name())) // tried again at the next end
	}
}

// measureMemory sets the metrics of a process's memory.
func (p *process) measureMemory() {
	r := &p.memory.now
	p.setBytes(workingSet, r.RSS)
	p.setBytes(memoryPart, r.Anon, "anon")
	p.setBytes(memoryPart, r.File, "file")
	p.setBytes(memoryPart, r.Shared, "shared")
	p.setBytes(memoryPart, r.Swap, "swap")
	if native, known := r.Native().Get(); known {
		p.setBytes(nativeMemory, gc.Some(native.Least))
	}
	p.setBytes(hardLimit, r.HardLimit)
	p.setBytes(cgroupUsed, r.Used)
	p.setBytes(cgroupLimit, r.Limit)
	p.setBytes(cgroupKills, r.OOMKills)
}

// endOf returns the log record of a process's end.
func endOf(v *ledger.Verdict) *otlp.End {
	e := &otlp.End{Cause: string(v.Cause), Memory: string(v.Memory), Sentence: v.Sentence}
	if r := v.Last; r != nil {
		e.RSS, e.Heap, e.Committed, e.Native = r.RSS, r.Heap, r.Committed, v.Native.Or(ledger.Unbounded).Exact()
		e.Used, e.Limit, e.HardLimit, e.LastGC = r.Used, r.Limit, r.HardLimit, r.GC
	}
	if v.Cause == ledger.OOMKilled {
		e.OOMKills = gc.Some(int64(1))
	}
	return e
}
