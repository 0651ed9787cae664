package report

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// Live returns a report as JSON on a running process: its findings, and totals that are known
// while it runs. Lost counts events, and dropped the collections that are counted in no
// figure. The pid is for commands; 0 for none.
func Live(found *findings.Result, totals ProcessTotals, lost uint64, dropped, pid int) (json.RawMessage, error) {
	verdict, code := found.Verdict, found.Code
	if verdict == "" {
		verdict, code = "No GC has happened yet.", findings.NoCollections
	}
	totals.PausePct = finite(totals.PausePct)
	p := Process{Code: code, Verdict: verdict, Suspensions: []Suspension{}, Longest: []LongPause{}, Totals: totals}
	p.Findings = text.Each(found.Findings, func(f *findings.Finding) Finding { return findingJSON(f, nil) })
	j := Document{
		SchemaVersion: schemaVersion, Format: "events of a running process", Duration: totals.Watched, Code: code, Verdict: verdict,
		Processes: []Process{p}, Next: []string{}, CannotTell: []Gap{}, Omitted: []string{},
		Lost: (&trace.Loss{Events: lost, Exactness: trace.Exact}).Lost(), Collected: Collected{Providers: []Provider{}},
	}
	if pid != 0 {
		j.CannotTell = append(j.CannotTell, Gap{
			What:    "Allocations by type and stack: recording them costs the process more.",
			Command: filled("gctrail collect --profile gc-alloc -p " + strconv.Itoa(pid)),
		})
	}
	if dropped > 0 {
		j.CannotTell = append(j.CannotTell, Gap{What: "Some collections: this computer was too slow to process all."})
	}
	data, err := encoded(&j)
	return bytes.TrimSpace(data), err
}
