package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/units"
)

var cappedRules = []rule{{
	id: "R74", title: "the runtime caps GCgen0size", kind: aside,
	threshold: "GCgen0size is set, and after three GCs or more gen 0's budget never reached 95 % of it",
	source:    "gc.cpp, get_gen0_min_size: half of a segment, or of what counts as one with regions",
	find:      capped,
	advice:    []advice{{text: "Do not expect more from a larger GCgen0size: the runtime ignores the rest of its value."}},
}}

// reached is the share of a configured budget, in percent, that counts as all of it. Own.
const reached = 95

func capped(j *judgement) (Finding, bool) {
	s := j.Summary.Process.Settings
	if s == nil || s.Gen0MinBudgetConfig == 0 || s.Gen0MinBudgetConfig >= 1<<62 || j.budgets < several {
		return Finding{}, false
	}
	asked := int64(s.Gen0MinBudgetConfig)
	if of(j.mostGen0, asked) >= reached {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("GCgen0size asks for %s, but gen 0's budget was at most %s on each heap.", units.Bytes(asked), units.Bytes(j.mostGen0)),
		Evidence:    []Figure{{"gen0_size_bytes", float64(asked)}, {"gen0_budget_max_bytes", float64(j.mostGen0)}},
	}, true
}
