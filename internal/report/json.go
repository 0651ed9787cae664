package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// schemaVersion is raised when a key changes its meaning or goes away.
const schemaVersion = 2

// The types below are the JSON of a report: one line for each file. Unknown
// figures are null; docs/figures.md defines them.
type (
	jsonReport struct {
		SchemaVersion int             `json:"schema_version"`
		File          string          `json:"file"`
		Format        string          `json:"format"`
		StartTime     string          `json:"start_time"`
		Duration      jsonMS          `json:"duration_ms"`
		Code          findings.Code   `json:"verdict_code"`
		Verdict       string          `json:"verdict"`
		Processes     []jsonProcess   `json:"processes"`
		WithoutGC     []jsonWithoutGC `json:"processes_without_gc"`
		Lost          jsonLost        `json:"lost"`
		Collected     jsonCollected   `json:"collected"`
		CannotTell    []jsonGap       `json:"cannot_tell"`
		Next          []string        `json:"next"`
		NextIfEnded   *string         `json:"next_if_ended"` // starts the program that next selects by name
		Omitted       []string        `json:"omitted"`       // --full has it
	}
	jsonProcess struct {
		PID         *uint64          `json:"pid"`
		Process     *string          `json:"process"`
		CommandLine *string          `json:"command_line"`
		Runtime     *string          `json:"runtime"`
		Server      *bool            `json:"server"`
		Code        findings.Code    `json:"verdict_code"`
		Verdict     string           `json:"verdict"`
		Totals      jsonAll          `json:"totals"`
		Findings    []jsonFinding    `json:"findings"`
		Suspensions []jsonSuspension `json:"suspensions_without_gc"`
		Timeline    *jsonTimeline    `json:"timeline"`
		Processors  *jsonProcessors  `json:"processors"`
		Memory      *jsonMemory      `json:"memory"`
		Longest     []jsonLongest    `json:"longest_pauses"`
		Percentiles []jsonPercentile `json:"percentiles"`
		Phases      []jsonPhase      `json:"background_phases"`
		Omitted     jsonOmitted      `json:"omitted"`
	}
	jsonTotals struct {
		Count       int     `json:"count"`
		Pause       *jsonMS `json:"pause_ms"`
		PauseMax    *jsonMS `json:"pause_max_ms"`
		PauseP50    *jsonMS `json:"pause_p50_ms"`
		PauseP90    *jsonMS `json:"pause_p90_ms"`
		PauseP99    *jsonMS `json:"pause_p99_ms"`
		Allocated   *int64  `json:"allocated_bytes"`
		Freed       *int64  `json:"freed_bytes"`
		Promoted    *int64  `json:"promoted_bytes"`
		AllocatedIs *string `json:"allocated_is"`
		FreedIs     *string `json:"freed_is"`
	}
	jsonAll struct {
		jsonTotals
		Watched          jsonMS           `json:"watched_ms"`
		PausePct         *float64         `json:"pause_pct"`
		Suspend          *jsonMS          `json:"suspend_ms"`
		AllocatedMax     *int64           `json:"allocated_max_bytes"`
		AllocationRate   *float64         `json:"allocated_bytes_per_s"`
		AllocationRateIs *string          `json:"allocated_bytes_per_s_is"`
		Incomplete       int              `json:"incomplete"`
		Affected         int              `json:"affected_by_loss"`
		Induced          int              `json:"induced"`
		Generations      []jsonGeneration `json:"generations"`
		Kinds            []jsonKind       `json:"kinds"`
		Reasons          []jsonReason     `json:"reasons"`
		Heap             jsonHeap         `json:"heap"`
		Worst            []jsonStall      `json:"worst_windows"`
	}
	jsonGeneration struct {
		Generation int `json:"generation"`
		jsonTotals
	}
	jsonKind struct {
		Kind string `json:"kind"`
		jsonTotals
	}
	jsonReason struct {
		Reason   *string `json:"reason"`
		Code     *uint32 `json:"reason_code"`
		Count    int     `json:"count"`
		Pause    *jsonMS `json:"pause_ms"`
		PauseMax *jsonMS `json:"pause_max_ms"`
	}
	jsonHeap struct {
		Peak         *int64 `json:"peak_bytes"`
		After        *int64 `json:"after_bytes"`
		Committed    *int64 `json:"committed_bytes"`
		MaxCommitted *int64 `json:"committed_max_bytes"`
		MaxLoad      *int   `json:"memory_load_max_pct"`
		MinHeaps     *int   `json:"heaps_min"`
		MaxHeaps     *int   `json:"heaps_max"`
	}
	jsonStall struct {
		Window jsonMS  `json:"window_ms"`
		From   jsonMS  `json:"from_ms"`
		Pause  jsonMS  `json:"pause_ms"`
		Other  jsonMS  `json:"other_suspension_ms"`
		Share  float64 `json:"pause_pct"`
		Left   float64 `json:"mutator_utilization_min_pct"`
	}
	jsonFinding struct {
		ID          string             `json:"id"`
		Title       string             `json:"title"`
		Severity    string             `json:"severity"`
		Confidence  string             `json:"confidence"`
		Says        string             `json:"says"`
		Evidence    map[string]float64 `json:"evidence"`
		Collections []uint32           `json:"collections"`
		Shown       int                `json:"collections_in_all"`
		Advice      []string           `json:"advice"`
		Settings    []jsonSetting      `json:"settings"`
		Next        []jsonStep         `json:"next"`
		Types       []jsonType         `json:"types"`
		Callers     []jsonCaller       `json:"callers"`
		Handles     []jsonHandles      `json:"handles"`
		Pins        []jsonPinned       `json:"pins"`
		Finalized   []jsonFinalized    `json:"finalized"`
		Heaps       []jsonHeapThread   `json:"heaps"`
	}
	jsonStep struct {
		Purpose string `json:"purpose"`
		Command string `json:"command"`
	}
	jsonSetting struct {
		Variable string  `json:"env"`
		Value    string  `json:"env_value_hex"`
		Property *string `json:"runtimeconfig"`
		JSON     *string `json:"runtimeconfig_value"`
		Effect   string  `json:"effect"`
		Cost     string  `json:"cost"`
		Since    *string `json:"since"`
	}
	jsonSuspension struct {
		Reason string `json:"reason"`
		Code   uint32 `json:"reason_code"`
		Kind   string `json:"kind"`
		Count  int    `json:"count"`
		Total  jsonMS `json:"total_ms"`
		Max    jsonMS `json:"max_ms"`
	}
	jsonTimeline struct {
		Start       jsonMS   `json:"start_ms"`
		Width       jsonMS   `json:"bucket_ms"`
		Collections []int    `json:"collections"`
		Pause       []jsonMS `json:"pause_ms"`
		HeapAfter   []*int64 `json:"heap_after_bytes"`
		Committed   []*int64 `json:"committed_bytes"`
	}
	jsonLongest struct {
		Number     uint32  `json:"number"`
		Generation *int    `json:"generation"`
		Kind       string  `json:"kind"`
		Reason     *string `json:"reason"`
		Start      *jsonMS `json:"pause_start_ms"`
		Pause      *jsonMS `json:"pause_ms"`
		Suspend    *jsonMS `json:"suspend_ms"`
		Promoted   *int64  `json:"promoted_bytes"`
		Affected   bool    `json:"affected_by_loss"`
	}
	jsonOmitted struct {
		Pauses int `json:"pauses"` // beyond longest_pauses; gctrail gcs has all
	}
	jsonLost struct {
		Events   uint64      `json:"events"`
		LeftOut  uint64      `json:"left_out"`
		EventsIs string      `json:"events_is"`
		Cut      bool        `json:"cut"`
		Late     uint64      `json:"late"`
		Damaged  int         `json:"damaged"`
		At       []jsonRange `json:"at"`
		AtInAll  int         `json:"at_in_all"`
	}
	jsonRange struct {
		From jsonMS `json:"from_ms"`
		To   jsonMS `json:"to_ms"`
	}
	jsonCollected struct {
		Providers []jsonProvider `json:"providers"`
	}
	jsonProvider struct {
		Name     string `json:"name"`
		Keywords uint64 `json:"keywords"`
		Hex      string `json:"keywords_hex"`
		Level    uint8  `json:"level"`
		Events   uint64 `json:"events"`
	}
	jsonGap struct {
		What    string  `json:"what"`
		Command *string `json:"command"`
	}
)

// maxRanges bounds lost.at.
const maxRanges = 20

// A jsonMS is a duration in milliseconds, all of its nanoseconds.
type jsonMS time.Duration

// MarshalJSON writes the milliseconds.
func (d jsonMS) MarshalJSON() ([]byte, error) {
	n := max(0, int64(d))
	b := strconv.AppendInt(nil, n/1e6, 10)
	if rest := n % 1e6; rest > 0 {
		b = fmt.Appendf(b, ".%06d", rest)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b, nil
}

// WriteJSON writes the report as one line.
func (rep *Report) WriteJSON(out io.Writer) error {
	return jsontext.Encode(out, rep.json())
}

// WriteBriefJSON writes the report as one line of at most MaxBrief bytes, which
// names what it leaves out.
func (rep *Report) WriteBriefJSON(out io.Writer) error {
	line, err := brief(rep.json())
	if err != nil {
		return err
	}
	_, err = out.Write(line)
	return err
}

func (rep *Report) json() *jsonReport {
	j := &jsonReport{
		SchemaVersion: schemaVersion,
		File:          rep.Name,
		Format:        rep.info.Format,
		StartTime:     rep.info.Start.Format(time.RFC3339Nano),
		Duration:      jsonMS(rep.info.Last),
		Processes:     []jsonProcess{},
		WithoutGC:     rep.withoutGCJSON(),
		Lost:          rep.jsonLost(),
		Next:          rep.next(),
		NextIfEnded:   filled(rep.nextIfEnded()),
		CannotTell:    []jsonGap{},
		Omitted:       []string{},
	}
	var worst *Case
	for i := range rep.cases {
		j.Processes = append(j.Processes, rep.process(&rep.cases[i]))
	}
	if len(rep.cases) > 0 {
		worst = &rep.cases[0]
		j.Code, j.Verdict = j.Processes[0].Code, j.Processes[0].Verdict
	} else {
		j.Code, j.Verdict = rep.emptyVerdict()
	}
	for _, g := range rep.gaps(worst) {
		j.CannotTell = append(j.CannotTell, jsonGap{g.what, filled(g.command)})
	}
	j.Collected.Providers = []jsonProvider{}
	for _, c := range rep.recorded {
		j.Collected.Providers = append(j.Collected.Providers, jsonProvider{c.Provider, c.Keywords, fmt.Sprintf("0x%x", c.Keywords), c.Level, c.Events})
	}
	return j
}

func (rep *Report) jsonLost() jsonLost {
	l, ranges := rep.loss, rep.loss.Ranges()
	j := jsonLost{l.Events - l.LeftOut, l.LeftOut, l.Exactness.String(), l.Truncated, l.Late, l.Damaged, []jsonRange{}, len(ranges)}
	for _, r := range ranges[:min(len(ranges), maxRanges)] {
		j.At = append(j.At, jsonRange{jsonMS(r.From), jsonMS(r.To)})
	}
	return j
}

func (rep *Report) process(c *Case) jsonProcess {
	p := c.Summary.Process
	j := jsonProcess{
		PID: known(p.PID), Process: filled(p.Name), CommandLine: filled(p.CommandLine), Runtime: filled(p.Runtime), Server: optional(p.Server),
		Code: c.Code, Verdict: c.Verdict, Totals: c.jsonAll(), Timeline: c.jsonTimeline(), Memory: c.Memory.json(),
		Processors: processorsJSON(p),
		Findings:   []jsonFinding{}, Suspensions: []jsonSuspension{}, Longest: []jsonLongest{},
		Percentiles: c.percentilesJSON(), Phases: c.phasesJSON(),
		Omitted: jsonOmitted{Pauses: c.Summary.All().Pause.Count() - len(c.Summary.Longest)},
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		finding := findingJSON(f, rep.commands(c, f))
		finding.Types = c.typesJSON(f)
		j.Findings = append(j.Findings, finding)
	}
	for _, s := range c.Suspensions() {
		j.Suspensions = append(j.Suspensions, jsonSuspension{s.Reason.String(), uint32(s.Reason), s.Kind.String(), s.Count, jsonMS(s.Total), jsonMS(s.Max)})
	}
	for _, col := range c.Summary.Longest {
		var reason *string
		if r, ok := col.Reason.Get(); ok {
			reason = filled(r.String())
		}
		j.Longest = append(j.Longest, jsonLongest{
			col.Number, optional(col.Generation), col.Kind.String(), reason, optionalMS(col.PauseStart),
			optionalMS(col.Pause()), optionalMS(col.Suspend()), optional(col.Promoted), col.AffectedByLoss,
		})
	}
	return j
}

func (c *Case) jsonAll() jsonAll {
	all, h := c.Summary.All(), c.Summary.Heap
	j := jsonAll{
		jsonTotals: totalsJSON(all), Watched: jsonMS(c.Summary.Watched()),
		PausePct:   finite(c.PauseShare()),
		Incomplete: all.Incomplete, Affected: all.Affected, Induced: all.Induced,
		Generations: []jsonGeneration{}, Kinds: []jsonKind{}, Reasons: []jsonReason{}, Worst: []jsonStall{},
		Heap: jsonHeap{
			Peak: optional(h.Peak), After: optional(h.After), Committed: optional(h.Committed), MaxCommitted: optional(h.MaxCommitted),
			MaxLoad: optional(h.MaxLoad), MinHeaps: positive(h.MinHeaps), MaxHeaps: positive(h.MaxHeaps),
		},
	}
	j.useAllocated(&c.Summary)
	if all.SuspendKnown > 0 {
		j.Suspend = new(jsonMS)
		*j.Suspend = jsonMS(all.Suspend)
	}
	for n := range 3 {
		if t := c.Summary.Generation(n); t.Count > 0 {
			j.Generations = append(j.Generations, jsonGeneration{n, totalsJSON(t)})
		}
	}
	for k := gc.KindUnknown; k <= gc.Foreground; k++ {
		if t := c.Summary.Kind(k); t.Count > 0 {
			j.Kinds = append(j.Kinds, jsonKind{k.String(), totalsJSON(t)})
		}
	}
	for _, r := range c.Summary.Reasons() {
		reason := jsonReason{Count: r.Count}
		if v, ok := r.Reason.Get(); ok {
			code := uint32(v)
			reason.Reason, reason.Code = filled(v.String()), &code
		}
		t := totalsJSON(r.Totals)
		reason.Pause, reason.PauseMax = t.Pause, t.PauseMax
		j.Reasons = append(j.Reasons, reason)
	}
	for _, s := range c.Summary.Suspended() {
		j.Worst = append(j.Worst, jsonStall{jsonMS(s.Window), jsonMS(s.From), jsonMS(s.Pause), jsonMS(s.Other), s.Share(), s.MutatorUtilization()})
	}
	return j
}

// useAllocated replaces the bytes counted by collections by all bytes that the process
// allocated.
func (j *jsonAll) useAllocated(of *stats.Summary) {
	sum, rate := of.Allocated(), of.AllocationRate()
	j.Allocated, j.AllocatedIs = bytesJSON(sum)
	j.AllocatedMax = optional(sum.Max())
	if rate.Known() {
		j.AllocationRate, j.AllocationRateIs = finite(gc.Some(rate.PerSecond)), filled(rate.Certainty.String())
	}
}

func totalsJSON(t *stats.Totals) jsonTotals {
	j := jsonTotals{Count: t.Count}
	if t.Pause.Count() > 0 {
		figures := [...]jsonMS{
			jsonMS(t.Pause.Sum()), jsonMS(t.Pause.Max()),
			jsonMS(t.Pause.Percentile(50)), jsonMS(t.Pause.Percentile(90)), jsonMS(t.Pause.Percentile(99)),
		}
		j.Pause, j.PauseMax, j.PauseP50, j.PauseP90, j.PauseP99 = &figures[0], &figures[1], &figures[2], &figures[3], &figures[4]
	}
	j.Allocated, j.AllocatedIs = bytesJSON(t.Allocated)
	j.Freed, j.FreedIs = bytesJSON(t.Freed)
	j.Promoted, _ = bytesJSON(t.Promoted)
	return j
}

func bytesJSON(b stats.Bytes) (sum *int64, is *string) {
	if c := b.Certainty(); c != gc.Uncertain {
		return &b.Sum, filled(c.String())
	}
	return nil, nil
}

func (c *Case) jsonTimeline() *jsonTimeline {
	t := &c.Summary.Timeline
	j := &jsonTimeline{jsonMS(t.Origin), jsonMS(t.Width()), []int{}, []jsonMS{}, []*int64{}, []*int64{}}
	for i := range t.Buckets {
		b := &t.Buckets[i]
		j.Collections = append(j.Collections, b.Collections)
		j.Pause = append(j.Pause, jsonMS(b.Pause))
		j.HeapAfter = append(j.HeapAfter, optional(b.HeapAfter))
		j.Committed = append(j.Committed, optional(b.Committed))
	}
	return j
}

func findingJSON(f *findings.Finding, next []step) jsonFinding {
	j := jsonFinding{
		ID: f.ID, Title: f.Title, Severity: f.Severity.String(), Confidence: f.Confidence.String(), Says: f.Description,
		Evidence: map[string]float64{}, Collections: append([]uint32{}, f.Collections...), Shown: f.Shown,
		Advice: append([]string{}, f.Advice...), Settings: []jsonSetting{}, Next: []jsonStep{}, Callers: callersJSON(f),
		Handles: handlesJSON(f), Pins: pinsJSON(f), Finalized: finalizedJSON(f), Heaps: heapsJSON(f),
	}
	for _, e := range f.Evidence {
		if !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0) {
			j.Evidence[e.Name] = e.Value
		}
	}
	for _, s := range f.Settings {
		j.Settings = append(j.Settings, jsonSetting{s.Variable, s.Value, filled(s.Property), filled(s.JSON), s.Effect, s.Cost, filled(s.Since)})
	}
	for _, s := range next {
		j.Next = append(j.Next, jsonStep{s.purpose, s.command})
	}
	return j
}

// known returns nil for an id that the trace does not tell.
func known(id uint64) *uint64 {
	if id == trace.UnknownID {
		return nil
	}
	return &id
}

// filled returns nil if there is none.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optional[T any](o gc.Opt[T]) *T {
	if v, ok := o.Get(); ok {
		return &v
	}
	return nil
}

func optionalMS(o gc.Opt[time.Duration]) *jsonMS {
	if v, ok := o.Get(); ok {
		ms := jsonMS(v)
		return &ms
	}
	return nil
}

func finite(o gc.Opt[float64]) *float64 {
	if v := o.Or(0); math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return optional(o)
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}
