package report

import (
	"bytes"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// MaxBrief is how long the JSON of a report is without --full, in bytes: agents
// read it whole.
const MaxBrief = 6000

// A cut leaves a part out of a report.
type cut struct {
	name string
	make func(*Document)
}

// cuts are made in this order until a report is brief.
var cuts = [...]cut{
	{"timeline", ofProcesses(func(p *Process) { p.Timeline = nil })},
	{"memory.timeline", ofMemory(func(m *MemoryHistory) { m.Timeline = []MemoryMoment{} })},
	{"percentiles", ofProcesses(func(p *Process) { p.Percentiles = []PausePercentile{} })},
	{"longest_pauses", ofProcesses(func(p *Process) { p.Omitted.Pauses += len(p.Longest); p.Longest = []LongPause{} })},
	{"processors", ofProcesses(func(p *Process) { p.Processors = nil })},
	{"command_line", ofProcesses(func(p *Process) { p.CommandLine = gc.Opt[string]{} })},
	{"further processes", func(r *Document) { r.Processes = r.Processes[:min(len(r.Processes), 3)] }},
	{"further settings", ofFindings(func(f *Finding) { f.Settings = f.Settings[:min(len(f.Settings), 1)] })},
	{"further collections", ofFindings(func(f *Finding) { f.Collections = f.Collections[:min(len(f.Collections), 5)] })},
	{"background_phases", ofProcesses(func(p *Process) { p.Phases = []PhaseTotals{} })},
	{"further types, callers and objects", ofFindings(func(f *Finding) {
		f.Types, f.Callers = f.Types[:min(len(f.Types), 1)], f.Callers[:min(len(f.Callers), 3)]
		f.Handles, f.Pins, f.Finalized = f.Handles[:min(len(f.Handles), 1)], f.Pins[:min(len(f.Pins), 1)], f.Finalized[:min(len(f.Finalized), 1)]
		f.Heaps = f.Heaps[:min(len(f.Heaps), 1)]
	})},
	{"further advice", ofFindings(func(f *Finding) { f.Advice = f.Advice[:min(len(f.Advice), 1)] })},
	{"totals by kind", ofProcesses(func(p *Process) { p.Totals.Kinds = []KindTotals{} })},
	{"lost.at", func(r *Document) { r.Lost.At = []trace.TimeRange{} }},
	{"further findings", ofProcesses(func(p *Process) { p.Findings = p.Findings[:min(len(p.Findings), 4)] })},
	{"settings", ofFindings(func(f *Finding) { f.Settings = []Setting{} })},
	{"next of findings", ofFindings(func(f *Finding) { f.Next = []Step{} })},
	{"types, callers and objects", ofFindings(func(f *Finding) {
		f.Types, f.Callers = []AllocatedType{}, []findings.Caller{}
		f.Handles, f.Pins, f.Finalized, f.Heaps = []findings.OpenHandles{}, []findings.PinnedType{}, []findings.FinalizedType{}, []HeapThread{}
	})},
	{"evidence", ofFindings(func(f *Finding) { f.Evidence = map[string]float64{} })},
	{"suspensions_without_gc", ofProcesses(func(p *Process) { p.Suspensions = []Suspension{} })},
	{"collected", func(r *Document) { r.Collected.Providers = []Provider{} }},
	{"cannot_tell", func(r *Document) { r.CannotTell = []Gap{} }},
	{"totals by reason", ofProcesses(func(p *Process) { p.Totals.Reasons = []ReasonTotals{} })},
	{"totals by generation", ofProcesses(func(p *Process) { p.Totals.Generations = []GenerationTotals{} })},
	{"all processes but the first", func(r *Document) { r.Processes = r.Processes[:min(len(r.Processes), 1)] }},
	{"all findings but the first", ofProcesses(func(p *Process) { p.Findings = p.Findings[:min(len(p.Findings), 1)] })},
	{"next", func(r *Document) { r.Next, r.NextIfEnded = []string{}, gc.Opt[string]{} }},
	{"file", func(r *Document) { r.File = "" }},
	{"findings", ofProcesses(func(p *Process) { p.Findings = []Finding{} })},
	{"processes", func(r *Document) { r.Processes = []Process{} }},
}

func ofProcesses(do func(*Process)) func(*Document) {
	return func(r *Document) {
		for i := range r.Processes {
			do(&r.Processes[i])
		}
	}
}

func ofMemory(do func(*MemoryHistory)) func(*Document) {
	return ofProcesses(func(p *Process) {
		if p.Memory != nil {
			do(p.Memory)
		}
	})
}

func ofFindings(do func(*Finding)) func(*Document) {
	return ofProcesses(func(p *Process) {
		for i := range p.Findings {
			do(&p.Findings[i])
		}
	})
}

// brief writes a report as one line of at most MaxBrief bytes. It changes the
// report.
func brief(r *Document) ([]byte, error) {
	line, err := encoded(r)
	for i := 0; err == nil && len(line) > MaxBrief && i < len(cuts); i++ {
		before := len(line)
		cuts[i].make(r)
		if line, err = encoded(r); len(line) < before {
			r.Omitted = append(r.Omitted, cuts[i].name)
			line, err = encoded(r)
		}
	}
	return line, err
}

func encoded(r *Document) ([]byte, error) {
	var line bytes.Buffer
	err := jsontext.Encode(&line, r)
	return line.Bytes(), err
}
