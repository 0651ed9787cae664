package comparison

import (
	"bytes"
	"encoding/json"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/jsontext"
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
	p := pageComparison{Summary: Summary(c), Notes: []string{}, Metrics: []pageMetric{}, Causes: [][]string{}}
	for _, r := range c.Before {
		p.Before = append(p.Before, r.Name)
	}
	for _, r := range c.After {
		p.After = append(p.After, r.Name)
	}
	for _, n := range c.Notes {
		p.Notes = append(p.Notes, n.Text)
	}
	p.Metrics = append(p.Metrics, metricsInWords(c)...)
	p.Causes = append(p.Causes, causeRows(c)...)
	var text bytes.Buffer
	err := jsontext.Encode(&text, p)
	return text.Bytes(), err
}

// metricsInWords returns the primary metrics, each with its explaining metrics after it.
func metricsInWords(c *compare.Comparison) []pageMetric {
	var all []pageMetric
	for i := range c.Changes {
		ch := &c.Changes[i]
		all = append(all, pageMetric{
			Verdict: ch.Verdict, Word: verdicts[ch.Verdict], Name: metricName(ch.Metric, c.Basis), Explains: ch.Explains != "",
			Before: bounded(ch.Before, ch.Unit), After: bounded(ch.After, ch.Unit), Change: signed(ch.Percent),
			Interval: interval(ch), Note: why(ch),
		})
	}
	return all
}
