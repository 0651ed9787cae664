package comparison

import (
	"bytes"
	"encoding/json"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
)

// The types below are the comparison as a page shows it, in words.
type (
	pageComparison struct {
		Summary string       `json:"summary"`
		Before  []string     `json:"before"` // runs
		After   []string     `json:"after"`
		Notes   []string     `json:"notes"`
		Metrics []pageMetric `json:"metrics"`
		Causes  [][]string   `json:"causes"` // kind and name, before, after
	}
	pageMetric struct {
		Verdict  compare.Verdict `json:"verdict"`
		Word     string          `json:"word"` // the verdict
		Name     string          `json:"name"`
		Explains bool            `json:"explains"` // the primary one above it
		Before   string          `json:"before"`
		After    string          `json:"after"`
		Change   string          `json:"change"`
		Interval string          `json:"interval"`
		Note     string          `json:"note"`
	}
)

// PageJSON returns the comparison for a page.
func PageJSON(c *compare.Comparison) (json.RawMessage, error) {
	name := func(r **compare.Run) string { return (*r).Name }
	p := pageComparison{
		Summary: Summary(c), Before: text.Each(c.Before, name), After: text.Each(c.After, name),
		Notes:   text.Each(c.Notes, func(n *compare.Note) string { return n.Text }),
		Metrics: metricsInWords(c), Causes: causeRows(c),
	}
	var out bytes.Buffer
	err := jsontext.Encode(&out, p)
	return out.Bytes(), err
}

// metricsInWords returns the primary metrics, each with its explaining metrics after it.
func metricsInWords(c *compare.Comparison) []pageMetric {
	return text.Each(c.Changes, func(ch *compare.Change) pageMetric {
		return pageMetric{
			Verdict: ch.Verdict, Word: verdicts[ch.Verdict], Name: metricName(ch.Metric, c.Basis), Explains: ch.Explains != "",
			Before: bounded(ch.Before, ch.Unit), After: bounded(ch.After, ch.Unit), Change: Signed(ch.Percent),
			Interval: Interval(ch.Low, ch.High), Note: why(ch),
		}
	})
}
