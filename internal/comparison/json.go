package comparison

import (
	"io"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
)

type jsonMetric struct {
	Name       string          `json:"name"`
	Verdict    compare.Verdict `json:"verdict"`
	Unit       compare.Unit    `json:"unit"`
	Before     *float64        `json:"before"`
	BeforeMax  *float64        `json:"before_max"`
	After      *float64        `json:"after"`
	AfterMax   *float64        `json:"after_max"`
	Change     *float64        `json:"change_pct"`
	Low        *float64        `json:"low_pct"`
	High       *float64        `json:"high_pct"`
	P          *float64        `json:"p"`
	RunsNeeded gc.Opt[int]     `json:"runs_needed"`
	Reason     compare.Reason  `json:"reason,omitempty"`
	Explains   string          `json:"explains,omitempty"`
}

// WriteJSON writes the comparison as one line of JSON. What is not known is null.
func WriteJSON(w io.Writer, c *compare.Comparison) error {
	out := struct {
		SchemaVersion int             `json:"schema_version"`
		Verdict       compare.Verdict `json:"verdict"`
		RunsBefore    int             `json:"runs_before"`
		RunsAfter     int             `json:"runs_after"`
		Per           compare.Basis   `json:"per"`
		Metrics       []jsonMetric    `json:"metrics"`
		Causes        []compare.Cause `json:"causes"`
		Notes         []compare.Note  `json:"notes"`
	}{1, c.Verdict, len(c.Before), len(c.After), c.Basis, nil, append([]compare.Cause{}, c.Causes...), append([]compare.Note{}, c.Notes...)}
	out.Metrics = text.Each(c.Changes, func(ch *compare.Change) jsonMetric {
		return jsonMetric{
			Name: ch.Name, Verdict: ch.Verdict, Unit: ch.UnitOn(c.Basis),
			Before: jsontext.Number(ch.Before.Low), BeforeMax: jsontext.Number(ch.Before.High), After: jsontext.Number(ch.After.Low), AfterMax: jsontext.Number(ch.After.High),
			Change: jsontext.Number(ch.Percent), Low: jsontext.Number(ch.Low), High: jsontext.Number(ch.High), P: jsontext.Number(ch.P),
			RunsNeeded: gc.SomeIf(ch.RunsNeeded, ch.RunsNeeded > 0), Reason: ch.Reason, Explains: ch.Explains,
		}
	})
	return jsontext.Encode(w, out)
}

func numbers(values []float64) []*float64 {
	return text.Each(values, func(v *float64) *float64 { return jsontext.Number(*v) })
}

type jsonTrend struct {
	Name    string          `json:"name"`
	Verdict compare.Verdict `json:"verdict"`
	Unit    compare.Unit    `json:"unit"`
	Values  []*float64      `json:"values"`
	Most    []*float64      `json:"values_max"`
	Steps   []jsonStep      `json:"steps"`
}

type jsonStep struct {
	Run    string   `json:"run"`
	Index  int      `json:"index"`
	Before float64  `json:"before"`
	After  float64  `json:"after"`
	Change *float64 `json:"change_pct"`
}

// WriteTrendsJSON writes trends over runs as one line of JSON.
func WriteTrendsJSON(w io.Writer, labels []string, trends []compare.Trend) error {
	out := struct {
		SchemaVersion int             `json:"schema_version"`
		Verdict       compare.Verdict `json:"verdict"`
		RunsNeeded    *int            `json:"runs_needed"`
		Per           compare.Basis   `json:"per"`
		Runs          []string        `json:"runs"`
		Metrics       []jsonTrend     `json:"metrics"`
	}{1, compare.TrendsVerdict(trends), nil, basisOf(trends), labels, nil}
	if needed := compare.MinTrend - len(labels); needed > 0 && out.Verdict == compare.CannotTell {
		out.RunsNeeded = &needed
	}
	out.Metrics = text.Each(trends, func(t *compare.Trend) jsonTrend {
		steps := text.Each(t.Steps, func(s *compare.Step) jsonStep {
			return jsonStep{labels[s.Run], s.Run, s.Before, s.After, jsontext.Number(s.Percent)}
		})
		return jsonTrend{t.Name, t.Verdict(), t.UnitOn(t.Basis), numbers(t.Values), numbers(t.Most), steps}
	})
	return jsontext.Encode(w, out)
}

func basisOf(trends []compare.Trend) compare.Basis {
	if len(trends) == 0 {
		return compare.PerRun
	}
	return trends[0].Basis
}
