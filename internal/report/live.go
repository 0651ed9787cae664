package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// A State describes a running process apart from its collections.
type State struct {
	Verdict     string
	Code        findings.Code
	Findings    []findings.Finding
	Collections int
	Watched     time.Duration
	Paused      gc.Opt[float64] // percent
	Lost        uint64          // events
	Dropped     int             // collections that are counted in no figure
	PID         int             // for commands
}

// JSON returns the state as a report of one process.
func (s *State) JSON() (json.RawMessage, error) {
	verdict, code := s.Verdict, s.Code
	if verdict == "" {
		verdict, code = "No GC has happened yet.", findings.NoCollections
	}
	p := Process{
		Code: code, Verdict: verdict, Findings: []Finding{}, Suspensions: []Suspension{}, Longest: []LongPause{},
		Totals: ProcessTotals{Totals: Totals{Count: s.Collections}, Watched: Millis(s.Watched), PausePct: finite(s.Paused)},
	}
	for i := range s.Findings {
		p.Findings = append(p.Findings, findingJSON(&s.Findings[i], nil))
	}
	for i := range p.Findings {
		p.Findings[i].Types = []AllocatedType{}
	}
	j := Document{
		SchemaVersion: schemaVersion, Format: "events of a running process", Duration: Millis(s.Watched), Code: code, Verdict: verdict,
		Processes: []Process{p}, Next: []string{}, CannotTell: []Gap{}, Omitted: []string{},
		Lost: (&trace.Loss{Events: s.Lost, Exactness: trace.Exact}).Lost(), Collected: Collected{Providers: []Provider{}},
	}
	if s.PID != 0 {
		j.CannotTell = append(j.CannotTell, Gap{
			What:    "Allocations by type and stack: recording them costs the process more.",
			Command: filled("gctrail collect --profile gc-alloc -p " + strconv.Itoa(s.PID)),
		})
	}
	if s.Dropped > 0 {
		j.CannotTell = append(j.CannotTell, Gap{What: "Some collections: this computer was too slow to process all."})
	}
	var text bytes.Buffer
	err := jsontext.Encode(&text, &j)
	return bytes.TrimSpace(text.Bytes()), err
}
