package html

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/internal/timeline"
)

// The bounds of a page's data about a trace.
const (
	MaxCollections = 250_000
	maxProcesses   = 256
	maxDetails     = 32 << 20 // bytes, before they are packed; a page takes some 18 MB of them
	maxPhases      = 10_000   // background collections
)

// A Trace collects a page's data about one trace. The zero Trace is empty.
type Trace struct {
	Name   string
	Report json.RawMessage // as gctrail report --format json --full prints it
	Start  time.Time
	Last   time.Duration // of the last event
	Beside string        // which files beside it were read with it
	// Order lists the processes as Report does.
	Order []*gc.Process
	// Record holds the commands that record what a trace of a process may lack.
	Record map[*gc.Process]Record
	// PauseAtLeast holds the processes whose total pause is a lower bound.
	PauseAtLeast map[*gc.Process]bool
	// Allocations, heap snapshots and requests of processes, where the trace has them.
	Allocations, Objects, Requests []*Part

	processes []*process
	byProcess map[*gc.Process]*process
	phases    map[uint64][]phases // by process id
	quoted    map[*gc.Process]Quoted
	kept      int // phases
	rows      int
	limit     int // of rows; 0 for MaxCollections
	figures   row // of the latest collection
	details   longest
}

// A process is a page's data about one process.
type process struct {
	*gc.Process
	table   *table
	begins  []time.Duration // of the collections; never decreasing
	leftOut int             // collections for which there was no room
}

// A Part is what a page has about one process besides its collections: its allocations, its heap
// snapshots or its requests.
type Part struct {
	pid  uint64 // trace.UnknownID if unknown
	data any    // as JSON
}

// partOf returns the data about a process, nil for none.
func partOf(parts []*Part, of *process) any {
	for _, p := range parts {
		if p.pid == of.PID {
			return p.data
		}
	}
	return nil
}

// A storedDetail is a detail of a collection.
type storedDetail struct {
	process *process
	row     int
	pause   time.Duration
	data    []byte // the figures of the columns that details are predicted from, then of the detail
}

// longest holds the details of the collections with the longest pauses.
type longest struct {
	details timeline.Heap[storedDetail] // by pause
	bytes   int
	full    bool   // there was no room for one
	figures detail // of the latest collection
	text    []byte // of these
}

// add adds the details of a collection, which has these columns, if there is room or others
// have shorter pauses.
func (l *longest) add(p *process, c *gc.Collection, columns row) {
	pause := c.Pause().Or(0)
	if l.full && pause <= l.details[0].Of.pause {
		return
	}
	l.figures = l.figures[:0]
	for _, i := range guessColumns {
		l.figures = append(l.figures, columns[i])
	}
	l.figures = l.figures.appendCollection(c)
	l.text = l.figures.appendBytes(l.text[:0])
	d := storedDetail{p, p.table.rows - 1, pause, bytes.Clone(l.text)}
	l.bytes += len(d.data)
	l.details.Push(timeline.Run[storedDetail]{Time: int64(pause), Of: d})
	for l.bytes > maxDetails {
		l.full = true
		l.bytes -= len(l.details[0].Of.data)
		l.details.Drop()
	}
}

// Add adds a collection. Collections come in order of their start. It is not kept.
func (t *Trace) Add(c *gc.Collection) {
	p := t.process(c.Process)
	if p == nil {
		return
	}
	if t.rows == cmp.Or(t.limit, MaxCollections) {
		p.leftOut++
		return
	}
	t.figures = t.figures[:0].appendFigures(c)
	p.table.add(t.figures)
	p.begins = append(p.begins, begin(p.begins, c))
	t.rows++
	t.details.add(p, c, t.figures)
}

// begin returns when a collection begins, after some others: the page's charts have it
// there.
func begin(before []time.Duration, c *gc.Collection) time.Duration {
	at := c.PauseStart.Or(c.Start.Or(0))
	if len(before) > 0 {
		at = max(at, before[len(before)-1])
	}
	return at
}

// Begins returns when the collections of a process begin, in their order.
func (t *Trace) Begins(of *gc.Process) []time.Duration {
	if p := t.byProcess[of]; p != nil {
		return p.begins
	}
	return nil
}

// AddProcess adds a process, which may have no collection.
func (t *Trace) AddProcess(of *gc.Process) { t.process(of) }

func (t *Trace) process(of *gc.Process) *process {
	p := t.byProcess[of]
	if p == nil && len(t.processes) < maxProcesses {
		if t.byProcess == nil {
			t.byProcess = make(map[*gc.Process]*process)
		}
		p = &process{Process: of, table: newTable()}
		t.byProcess[of] = p
		t.processes = append(t.processes, p)
	}
	return p
}

// Phases adds the phases of a background collection.
func (t *Trace) Phases(c *background.Collection) {
	if t.kept == maxPhases {
		return
	}
	if t.phases == nil {
		t.phases = make(map[uint64][]phases)
	}
	t.kept++
	t.phases[c.PID] = append(t.phases[c.PID], phasesOf(c))
}

// phases are the phases of one background collection, in microseconds.
type phases struct {
	Number uint32     `json:"number"`
	Parts  [][3]int64 `json:"parts"` // phase, begin, duration
}

func phasesOf(c *background.Collection) phases {
	p := phases{Number: c.Number, Parts: [][3]int64{}}
	for i := range background.NumPhases {
		if in, known := c.Phases[i].Get(); known {
			p.Parts = append(p.Parts, [3]int64{int64(i), in.Begin.Microseconds(), in.Duration.Microseconds()})
		}
	}
	return p
}
