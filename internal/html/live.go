package html

import (
	"encoding/json"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
)

// The bounds of a Live's memory: about 7 MB of figures, and details.
const (
	maxLive        = 20_000  // collections
	maxLiveDetails = 8 << 20 // bytes
	maxLivePhases  = 1000    // background collections
)

// A Live holds the latest collections of a running process, for pages that follow
// it. It must be used by one goroutine at a time.
type Live struct {
	process *gc.Process
	start   time.Time
	rows    []row    // a ring, once all are there
	details [][]byte // of rows; nil for the oldest, if there is no room
	bytes   int      // of details
	oldest  int      // the first collection with details
	detail  detail   // of the latest collection
	next    int      // collections, so far
	phases  []phases // the latest
	ended   int      // background collections, so far
}

// Add adds a collection, whose times count from start. It is not kept.
func (l *Live) Add(start time.Time, c *gc.Collection) {
	l.process, l.start = c.Process, start
	l.detail = l.detail[:0].appendCollection(c)
	data := l.detail.appendBytes(nil)
	if l.next >= maxLive {
		l.dropDetails(l.next - maxLive + 1)
	}
	if at := l.next % maxLive; at < len(l.rows) {
		l.rows[at], l.details[at] = l.rows[at][:0].appendFigures(c), data
	} else {
		l.rows, l.details = append(l.rows, row(nil).appendFigures(c)), append(l.details, data)
	}
	l.bytes += len(data)
	l.next++
	for l.bytes > maxLiveDetails {
		l.dropDetails(l.oldest + 1)
	}
}

// dropDetails drops the details of collections before one.
func (l *Live) dropDetails(before int) {
	for ; l.oldest < before; l.oldest++ {
		at := l.oldest % maxLive
		l.bytes -= len(l.details[at])
		l.details[at] = nil
	}
}

// AddPhases adds the phases of a background collection.
func (l *Live) AddPhases(c *background.Collection) {
	if len(l.phases) == 2*maxLivePhases {
		l.phases = append(l.phases[:0], l.phases[maxLivePhases:]...)
	}
	l.phases = append(l.phases, phasesOf(c))
	l.ended++
}

// Phases returns, as JSON, the phases of background collections from number from on, in the
// order in which they were added, counted from 0. Only the latest ones are kept. It also returns
// the number of the next one. The JSON is nil if there are none.
func (l *Live) Phases(from int) (text []byte, next int) {
	of := l.phases[len(l.phases)-min(len(l.phases), max(0, l.ended-from), maxLivePhases):]
	if len(of) == 0 {
		return nil, l.ended
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // numbers always encode
	}
	return text, l.ended
}

// Next returns how many collections were added.
func (l *Live) Next() int { return l.next }

// First returns the number of the first that is retained, counted from 0 in the order in
// which they were added.
func (l *Live) First() int { return l.next - len(l.rows) }

// AppendRows appends the figures of the collections from number from up to, but not
// including, number to as a JSON array; see First and Next.
func (l *Live) AppendRows(dst []byte, from, to int) []byte {
	dst = append(dst, '[')
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		dst = l.rows[i%maxLive].appendJSON(dst)
	}
	return append(dst, ']')
}

// Detail returns the details of the collection of a number as JSON, nil
// if it is not kept.
func (l *Live) Detail(number uint32) []byte {
	for i := l.next - 1; i >= l.oldest; i-- {
		if at := i % maxLive; l.rows[at][0] == int64(number) {
			return detail(nil).readBytes(l.details[at]).appendJSON(nil)
		}
	}
	return nil
}

// Columns returns the columns block of a page about the retained collections. last is the time
// up to which the process was watched.
func (l *Live) Columns(name, program string, report json.RawMessage, terms []Term, last time.Duration) ([]byte, error) {
	t := &Trace{Name: name, Report: report, Start: l.start, Last: last}
	if l.process != nil {
		p := t.process(l.process)
		for i := l.First(); i < l.next; i++ {
			p.table.add(l.rows[i%maxLive])
		}
	}
	page := &Page{Program: program, Terms: terms, Traces: []*Trace{t}}
	t.processes = t.listed()
	tables, err := page.tables()
	if err != nil {
		return nil, err
	}
	return page.columns(nil, tables)
}
