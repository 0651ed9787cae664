package html

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/trace"
)

// formatVersion is raised when pages of before cannot show the data any more.
const formatVersion = 2

// A header describes the data of a page. Behind it are the columns of all processes.
type (
	header struct {
		Version    int             `json:"version"`
		Program    string          `json:"program"`
		Columns    []headerColumn  `json:"columns"`
		Details    headerDetails   `json:"details"`
		Words      words           `json:"words"`
		Terms      []Term          `json:"terms"`
		Traces     []headerTrace   `json:"traces"`
		Comparison json.RawMessage `json:"comparison"`
	}
	headerColumn struct {
		Name string   `json:"name"`
		From [][3]int `json:"from"` // column, how many collections before, sign
	}
	headerTrace struct {
		Name      string          `json:"name"`
		Side      string          `json:"side,omitempty"` // of a comparison: before or after
		Report    json.RawMessage `json:"report"`
		Beside    string          `json:"beside,omitempty"`
		Start     string          `json:"start"`
		LastUS    int64           `json:"last_us"`
		Processes []headerProcess `json:"processes"`
	}
	headerProcess struct {
		PID         *uint64  `json:"pid"`
		Name        string   `json:"name"`
		CommandLine string   `json:"command_line"`
		Runtime     string   `json:"runtime"`
		OS          string   `json:"os"`
		Arch        string   `json:"arch"`
		Server      *bool    `json:"server"`
		StartedUS   int64    `json:"started_us"`
		StoppedUS   int64    `json:"stopped_us"`
		HardLimit   *uint64  `json:"hard_limit_bytes"`
		Rows        int      `json:"rows"`
		LeftOut     int      `json:"rows_left_out"`
		Lengths     []int    `json:"lengths"` // of the columns, in bytes
		Phases      []phases `json:"phases"`
		// Details are the rows that have them, as runs are; Chunks are the lengths of
		// the chunks that they lie in, in bytes.
		Details     []uint32 `json:"details"`
		Chunks      []int    `json:"chunks"`
		Allocations bool     `json:"allocations"`
		Objects     bool     `json:"objects"`
		Requests    bool     `json:"requests"`
		Record      Record   `json:"record"`
		// PauseAtLeast reports that the sum of the pauses is a lower bound.
		PauseAtLeast bool `json:"pause_at_least"`
		Missing      int  `json:"missing"` // collections that are not in the trace
	}
	words struct {
		Generations []string          `json:"generations"`
		Kinds       []string          `json:"kinds"`
		Certainties []string          `json:"certainties"`
		Reasons     map[uint32]string `json:"reasons"`
		Condemned   []bit             `json:"condemned"`
		Mechanisms  []bit             `json:"mechanisms"`
		Phases      []string          `json:"phases"`
		PhaseTimes  []string          `json:"phase_times"`
		Roots       []string          `json:"roots"`
		Pauses      []string          `json:"pauses"`
		Parts       []string          `json:"parts"` // of pauses
	}
	bit struct {
		Bit  uint32 `json:"bit"`
		Name string `json:"name"`
	}
)

// Record is the commands for new traces of a process, each empty if there is none.
type Record struct {
	Collections string `json:"collections"`
	Stacks      string `json:"stacks"` // of allocations
	Phases      string `json:"phases"` // of background collections
	// Others are further data that the trace has none of.
	Others []Unrecorded `json:"others"`
}

// Unrecorded is data that a trace does not have, and the command that records it.
type Unrecorded struct {
	Name    string `json:"name"`
	What    string `json:"what"`
	Command string `json:"command"`
}

// A Term is a word of the page and what it means.
type Term struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Text string `json:"text"`
}

func headerColumns() []headerColumn {
	all := make([]headerColumn, len(columns))
	for i := range columns {
		all[i] = headerColumn{columns[i].name, [][3]int{}}
		for _, p := range places[i] {
			all[i].From = append(all[i].From, [3]int{p.column, p.back, int(p.sign)})
		}
	}
	return all
}

func wordsOfPage() words {
	names := gc.GenerationNames()
	w := words{
		Generations: names[:], Kinds: namesBelow(gc.Foreground + 1), Certainties: namesBelow(gc.LowerBound + 1), Reasons: make(map[uint32]string),
		Phases: namesBelow(background.NumPhases), PhaseTimes: timeNames, Roots: namesBelow(clr.RootTypeBGC + 1), Pauses: namesBelow(gc.PauseOther + 1),
		Parts: namesBelow(stats.NumParts),
	}
	for r := range clr.GCReasonInducedAggressive + 1 {
		w.Reasons[uint32(r)] = r.String()
	}
	for i := range 32 {
		if names := clr.CondemnReasons1(1 << i).Names(); len(names) == 1 {
			w.Condemned = append(w.Condemned, bit{1 << i, names[0]})
		}
		if names := clr.GlobalMechanisms(1 << i).Names(); len(names) == 1 {
			w.Mechanisms = append(w.Mechanisms, bit{1 << i, names[0]})
		}
	}
	return w
}

// namesBelow returns the names of the values of an enumeration below an end.
func namesBelow[T interface {
	~uint8 | ~uint32
	String() string
}](end T) []string {
	var names []string
	for v := T(0); v < end; v++ {
		names = append(names, v.String())
	}
	return names
}

// listed returns the processes in the order of the report.
func (t *Trace) listed() []*process {
	var all []*process
	for _, of := range t.Order {
		if p := t.byProcess[of]; p != nil {
			all = append(all, p)
		}
	}
	for _, p := range t.processes {
		if !slices.Contains(t.Order, p.Process) {
			all = append(all, p)
		}
	}
	return all
}

func (t *Trace) header() headerTrace {
	h := headerTrace{
		Name: t.Name, Report: t.Report, Beside: t.Beside, Start: t.Start.Format(time.RFC3339Nano), LastUS: t.Last.Microseconds(),
		Processes: []headerProcess{},
	}
	for _, p := range t.processes {
		h.Processes = append(h.Processes, t.headerProcess(p))
	}
	return h
}

func (t *Trace) headerProcess(p *process) headerProcess {
	h := processHeader(p.Process)
	h.Rows, h.LeftOut, h.PauseAtLeast = p.table.rows, p.leftOut, t.PauseAtLeast[p.Process]
	for _, data := range p.table.data {
		h.Lengths = append(h.Lengths, len(data))
	}
	h.Record = t.Record[p.Process]
	h.Phases = append(h.Phases, t.phases[p.PID]...)
	h.Allocations, h.Objects, h.Requests = partOf(t.Allocations, p) != nil, partOf(t.Objects, p) != nil, partOf(t.Requests, p) != nil
	return h
}

func processHeader(p *gc.Process) headerProcess {
	h := headerProcess{
		Name: p.Name, CommandLine: p.CommandLine, Runtime: p.Runtime, OS: p.OS, Arch: p.Arch,
		StartedUS: p.Started.Microseconds(), StoppedUS: p.Stopped.Microseconds(), Missing: p.Missing, Lengths: []int{}, Phases: []phases{}, Details: []uint32{}, Chunks: []int{},
	}
	if p.PID != trace.UnknownID {
		h.PID = &p.PID
	}
	if server, known := p.Server.Get(); known {
		h.Server = &server
	}
	if p.Settings != nil && p.Settings.HardLimit > 0 {
		h.HardLimit = &p.Settings.HardLimit
	}
	return h
}

// writeHeader writes the header, with its length before it.
func writeHeader(w io.Writer, h *header) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// writeTables writes the columns of all traces.
func writeTables(w io.Writer, traces []*Trace) error {
	for _, t := range traces {
		for _, p := range t.processes {
			for _, data := range p.table.data {
				if _, err := w.Write(data); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
