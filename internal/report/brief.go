package report

import (
	"bytes"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// MaxBrief is how long the JSON of a report is without --full, in bytes: agents
// read it whole.
const MaxBrief = 6000

// A cut leaves a part out of a report.
type cut struct {
	name string
	make func(*jsonReport)
}

// cuts are made in this order until a report is brief.
var cuts = [...]cut{
	{"timeline", ofProcesses(func(p *jsonProcess) { p.Timeline = nil })},
	{"memory.timeline", ofMemory(func(m *jsonMemory) { m.Timeline = []jsonMoment{} })},
	{"percentiles", ofProcesses(func(p *jsonProcess) { p.Percentiles = []jsonPercentile{} })},
	{"longest_pauses", ofProcesses(func(p *jsonProcess) { p.Omitted.Pauses += len(p.Longest); p.Longest = []jsonLongest{} })},
	{"processors", ofProcesses(func(p *jsonProcess) { p.Processors = nil })},
	{"command_line", ofProcesses(func(p *jsonProcess) { p.CommandLine = nil })},
	{"further processes", func(r *jsonReport) { r.Processes = r.Processes[:min(len(r.Processes), 3)] }},
	{"further settings", ofFindings(func(f *jsonFinding) { f.Settings = f.Settings[:min(len(f.Settings), 1)] })},
	{"further collections", ofFindings(func(f *jsonFinding) { f.Collections = f.Collections[:min(len(f.Collections), 5)] })},
	{"background_phases", ofProcesses(func(p *jsonProcess) { p.Phases = []jsonPhase{} })},
	{"further types, callers and objects", ofFindings(func(f *jsonFinding) {
		f.Types, f.Callers = f.Types[:min(len(f.Types), 1)], f.Callers[:min(len(f.Callers), 3)]
		f.Handles, f.Pins, f.Finalized = f.Handles[:min(len(f.Handles), 1)], f.Pins[:min(len(f.Pins), 1)], f.Finalized[:min(len(f.Finalized), 1)]
		f.Heaps = f.Heaps[:min(len(f.Heaps), 1)]
	})},
	{"further advice", ofFindings(func(f *jsonFinding) { f.Advice = f.Advice[:min(len(f.Advice), 1)] })},
	{"totals by kind", ofProcesses(func(p *jsonProcess) { p.Totals.Kinds = []jsonKind{} })},
	{"lost.at", func(r *jsonReport) { r.Lost.At = []jsonRange{} }},
	{"further findings", ofProcesses(func(p *jsonProcess) { p.Findings = p.Findings[:min(len(p.Findings), 4)] })},
	{"settings", ofFindings(func(f *jsonFinding) { f.Settings = []jsonSetting{} })},
	{"next of findings", ofFindings(func(f *jsonFinding) { f.Next = []jsonStep{} })},
	{"types, callers and objects", ofFindings(func(f *jsonFinding) {
		f.Types, f.Callers = []jsonType{}, []jsonCaller{}
		f.Handles, f.Pins, f.Finalized, f.Heaps = []jsonHandles{}, []jsonPinned{}, []jsonFinalized{}, []jsonHeapThread{}
	})},
	{"evidence", ofFindings(func(f *jsonFinding) { f.Evidence = map[string]float64{} })},
	{"suspensions_without_gc", ofProcesses(func(p *jsonProcess) { p.Suspensions = []jsonSuspension{} })},
	{"collected", func(r *jsonReport) { r.Collected.Providers = []jsonProvider{} }},
	{"cannot_tell", func(r *jsonReport) { r.CannotTell = []jsonGap{} }},
	{"totals by reason", ofProcesses(func(p *jsonProcess) { p.Totals.Reasons = []jsonReason{} })},
	{"totals by generation", ofProcesses(func(p *jsonProcess) { p.Totals.Generations = []jsonGeneration{} })},
	{"all processes but the first", func(r *jsonReport) { r.Processes = r.Processes[:min(len(r.Processes), 1)] }},
	{"all findings but the first", ofProcesses(func(p *jsonProcess) { p.Findings = p.Findings[:min(len(p.Findings), 1)] })},
	{"next", func(r *jsonReport) { r.Next, r.NextIfEnded = []string{}, nil }},
	{"file", func(r *jsonReport) { r.File = "" }},
	{"findings", ofProcesses(func(p *jsonProcess) { p.Findings = []jsonFinding{} })},
	{"processes", func(r *jsonReport) { r.Processes = []jsonProcess{} }},
}

func ofProcesses(do func(*jsonProcess)) func(*jsonReport) {
	return func(r *jsonReport) {
		for i := range r.Processes {
			do(&r.Processes[i])
		}
	}
}

func ofMemory(do func(*jsonMemory)) func(*jsonReport) {
	return ofProcesses(func(p *jsonProcess) {
		if p.Memory != nil {
			do(p.Memory)
		}
	})
}

func ofFindings(do func(*jsonFinding)) func(*jsonReport) {
	return ofProcesses(func(p *jsonProcess) {
		for i := range p.Findings {
			do(&p.Findings[i])
		}
	})
}

// brief writes a report as one line of at most MaxBrief bytes. It changes the
// report.
func brief(r *jsonReport) ([]byte, error) {
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

func encoded(r *jsonReport) ([]byte, error) {
	var line bytes.Buffer
	err := jsontext.Encode(&line, r)
	return line.Bytes(), err
}
