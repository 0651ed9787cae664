package trace

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// A Merged source merges several sources by the time of day that their clocks
// are tied to. That is exact for traces with the same clock, otherwise within
// about a millisecond.
//
// A process belongs to the first source that has events with its PID. Events of
// other sources with this PID would count twice, and are left out.
type Merged struct {
	parts    []part
	info     Info
	loss     Loss
	owners   map[uint64]int
	skipped  map[uint64]uint64
	disjoint bool
}

// A part is one source of several, with its next event.
type part struct {
	Source
	ahead time.Duration // from the common start to its own
	event *Event
	next  func() (*Event, error, bool)
	stop  func()
}

// Merge returns a source that merges sources by time.
func Merge(sources ...Source) *Merged {
	m := &Merged{owners: make(map[uint64]int), skipped: make(map[uint64]uint64)}
	m.info.Clock, m.info.PID = &Clock{Frequency: int64(time.Second)}, UnknownID
	m.info.Processes = make(map[uint64]Process)
	for _, s := range sources {
		m.parts = append(m.parts, part{Source: s})
	}
	return m
}

// Info describes all sources together; see Source.
func (m *Merged) Info() *Info { return &m.info }

// Loss sums the losses of all sources, once all their events were yielded.
func (m *Merged) Loss() *Loss { return &m.loss }

// Excluded returns the PIDs that occur in more than one source, with the number
// of events left out of the later sources.
func (m *Merged) Excluded() map[uint64]uint64 { return m.skipped }

// Disjoint reports whether some sources were recorded at another time than the others. It
// is valid once all events have been yielded.
func (m *Merged) Disjoint() bool { return m.disjoint }

// Counts yields the counts of the sources, one source after the other.
func (m *Merged) Counts() iter.Seq2[*Descriptor, uint64] {
	return func(yield func(*Descriptor, uint64) bool) {
		for i := range m.parts {
			for d, n := range m.parts[i].Counts() {
				if !yield(d, n) {
					return
				}
			}
		}
	}
}

// Events yields the events of all sources in time order. The first error of
// a source ends the sequence.
func (m *Merged) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		defer m.close()
		if err := m.open(); err != nil {
			yield(nil, err)
			return
		}
		for {
			p, i := m.earliest()
			if p == nil {
				m.end()
				return
			}
			if ev := p.event; m.claim(i, ev.PID) {
				m.takeName(p, ev.PID)
				ev.Ticks = units.AddCapped(ev.Ticks, ev.Clock.ticks(p.ahead))
				m.info.Last = max(m.info.Last, ev.Time())
				if !yield(ev, nil) {
					return
				}
			}
			if err := p.step(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// open reads the first event of each source, because its clock is unknown before.
func (m *Merged) open() error {
	var formats []string
	for i := range m.parts {
		p := &m.parts[i]
		p.next, p.stop = iter.Pull2(p.Events())
		if err := p.step(); err != nil {
			return err
		}
		start := p.Info().Start
		if start.IsZero() {
			return ErrNoCommonTime
		}
		if m.info.Start.IsZero() || start.Before(m.info.Start) {
			m.info.Start = start
		}
		formats = append(formats, p.Info().Format)
	}
	m.info.Format = strings.Join(formats, " + ")
	m.info.Declared = m.declared()
	for i := range m.parts {
		m.parts[i].ahead = Bound(m.parts[i].Info().Start.Sub(m.info.Start))
	}
	return nil
}

// declared returns the union of the sources' declarations, nil if a source has none.
func (m *Merged) declared() []Descriptor {
	var all []Descriptor
	for i := range m.parts {
		of := m.parts[i].Info().Declared
		if of == nil {
			return nil
		}
		all = append(all, of...)
	}
	return all
}

// earliest returns the source with the earliest next event, nil at the end.
func (m *Merged) earliest() (first *part, index int) {
	var at time.Duration
	for i := range m.parts {
		p := &m.parts[i]
		if p.event == nil {
			continue
		}
		if t := p.ahead + p.event.Time(); first == nil || t < at {
			first, index, at = p, i, t
		}
	}
	return first, index
}

// claim assigns a PID to the first source that asks, and reports whether it is this
// source's. Events of unknown processes belong to every source.
func (m *Merged) claim(source int, pid uint64) bool {
	if pid == UnknownID {
		return true
	}
	owner, ok := m.owners[pid]
	if !ok {
		m.owners[pid] = source
		return true
	}
	if owner != source {
		m.skipped[pid]++
	}
	return owner == source
}

// takeName copies the name of a process from the source that it belongs to.
func (m *Merged) takeName(p *part, pid uint64) {
	if of, ok := p.Info().Processes[pid]; ok && of != m.info.Processes[pid] {
		m.info.Processes[pid] = of
	}
}

// names completes the names of all processes at the end. The first source that knows it
// names a process without events.
func (m *Merged) names() {
	for i := range m.parts {
		p := &m.parts[i]
		for pid := range p.Info().Processes {
			if owner, ok := m.owners[pid]; ok && owner != i {
				continue
			} else if !ok {
				m.owners[pid] = i
			}
			m.takeName(p, pid)
		}
	}
}

// step takes the source's next event.
func (p *part) step() error {
	ev, err, ok := p.next()
	p.event = ev
	if !ok {
		p.event = nil
	}
	return err
}

// end combines the results of the sources.
func (m *Merged) end() {
	m.names()
	exactness, until := Exact, time.Duration(0)
	slices.SortStableFunc(m.parts, func(a, b part) int { return cmp.Compare(a.ahead, b.ahead) })
	for i := range m.parts {
		p := &m.parts[i]
		m.disjoint = m.disjoint || p.ahead > until
		until = max(until, p.ahead+p.Info().Last)
		l := p.Loss()
		for _, r := range l.Ranges() {
			m.loss.Add(0, r.From+p.ahead, r.To+p.ahead)
		}
		m.loss.Events += l.Events
		m.loss.Late += l.Late
		m.loss.Truncated = m.loss.Truncated || l.Truncated
		m.loss.StreamsUnknown = m.loss.StreamsUnknown || l.StreamsUnknown
		m.loss.Damaged += l.Damaged
		m.loss.Damage = append(m.loss.Damage, l.Damage[:min(len(l.Damage), MaxDamage-len(m.loss.Damage))]...)
		exactness = min(exactness, l.Exactness)
		m.info.ProcessesUnknown = m.info.ProcessesUnknown || p.Info().ProcessesUnknown
		m.info.CPUs = max(m.info.CPUs, p.Info().CPUs)
	}
	m.loss.Exactness = exactness
	m.loss.Settled = 1<<63 - 1
}

func (m *Merged) close() {
	for i := range m.parts {
		if m.parts[i].stop != nil {
			m.parts[i].stop()
		}
	}
}
