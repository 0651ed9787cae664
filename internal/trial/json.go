package trial

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
)

type jsonSetting struct {
	Name    string       `json:"name"`
	Set     []string     `json:"set"`
	Runtime *string      `json:"runtime"`
	Why     *string      `json:"why"`
	Runs    int          `json:"runs"`
	Failed  int          `json:"failed"`
	Front   bool         `json:"front"`
	Metrics []jsonMetric `json:"metrics"`
	Each    []jsonRun    `json:"each"`
}

type jsonMetric struct {
	Name       string   `json:"name"`
	Unit       Unit     `json:"unit"`
	Value      *float64 `json:"value"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Against    string   `json:"against_base"`
	Change     *float64 `json:"change_pct"`
	ChangeLow  *float64 `json:"change_low_pct"`
	ChangeHigh *float64 `json:"change_high_pct"`
}

type jsonRun struct {
	Round   int     `json:"round"`
	Outcome string  `json:"outcome"`
	Reason  *string `json:"reason"`
	Trace   *string `json:"trace"`
	Output  *string `json:"output"`
}

type jsonLines struct {
	Environment   *string          `json:"environment"`
	RuntimeConfig *json.RawMessage `json:"runtimeconfig"`
	Kubernetes    *string          `json:"kubernetes"`
}

// WriteJSON writes the result as one line of JSON. What is not known is null.
func (r *Result) WriteJSON(w io.Writer) error {
	out := struct {
		SchemaVersion int           `json:"schema_version"`
		Ending        string        `json:"ending"`
		Rounds        int           `json:"rounds"`
		Seconds       float64       `json:"seconds"`
		Settings      []jsonSetting `json:"settings"`
		Best          []string      `json:"best"`
		Says          string        `json:"says"`
		Notes         []string      `json:"notes"`
		Lines         jsonLines     `json:"lines"`
		Collector     *float64      `json:"gc_cpu_least_pct"`
	}{
		1, r.Ending.String(), r.Rounds, r.Took.Seconds(), text.Each(r.Settings, r.jsonSetting),
		text.Each(r.Best, nameOf), r.Says(), append([]string{}, r.Notes()...), r.lines(), nil,
	}
	if share, known := r.CollectorShare(); known {
		out.Collector = &share
	}
	return jsontext.Encode(w, out)
}

func (r *Result) jsonSetting(of **Outcomes) jsonSetting {
	o := *of
	s := jsonSetting{
		Name: o.Name, Set: o.Environment(), Runtime: jsontext.OrNull(o.Runtime), Why: jsontext.OrNull(o.Why),
		Runs: len(o.Runs), Failed: o.Bad(), Front: o.Front, Metrics: []jsonMetric{},
		Each: text.Each(o.Runs, func(run *Run) jsonRun {
			return jsonRun{run.Round, run.Outcome.String(), jsontext.OrNull(run.Reason), jsontext.OrNull(run.Trace), jsontext.OrNull(run.Output)}
		}),
	}
	for i := range o.Figures {
		f := &o.Figures[i]
		if !f.Known() {
			continue
		}
		m := jsonMetric{
			Name: f.Metric.Name, Unit: f.Metric.Unit, Value: jsontext.Number(f.Value), Low: jsontext.Number(f.Low), High: jsontext.Number(f.High), Against: f.Against.String(),
			Change: jsontext.Number(f.Change), ChangeLow: jsontext.Number(f.ChangeLow), ChangeHigh: jsontext.Number(f.ChangeHigh),
		}
		if o == r.Base() {
			m.Against = Same.String()
		}
		s.Metrics = append(s.Metrics, m)
	}
	return s
}

// lines returns how to set the best setting.
func (r *Result) lines() (l jsonLines) {
	if len(r.Best) == 0 || len(r.Best[0].Variables) == 0 {
		return l
	}
	best := r.Best[0].Setting
	l.Environment, l.Kubernetes = jsontext.OrNull(strings.Join(best.Environment(), "\n")), jsontext.OrNull(best.Manifest())
	if config := best.RuntimeConfig(); config != "" {
		raw := json.RawMessage(config)
		l.RuntimeConfig = &raw
	}
	return l
}
