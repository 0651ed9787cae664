package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

type whatIfOptions struct {
	selection.Selection
	traces []string
	set    []string
	sets   []whatif.Set
	format choice
	output string
}

func newWhatIfCmd(std *stdio) *cobra.Command {
	opts := &whatIfOptions{format: choice{"text", []string{"text", "json"}}}
	cmd := newCmd(std, opts, "what-if --set NAME=VALUE FILE...", "Bound what a setting would change, from a trace", someFiles(&opts.traces))
	flags := cmd.Flags()
	flags.StringArrayVar(&opts.set, "set", nil, "a `setting` of the runtime, such as GCgen0size=64M; may be repeated")
	flags.Var(&opts.format, "format", "text or json (one line)")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	addSelection(flags, &opts.Selection)
	return cmd
}

func (o *whatIfOptions) conflict() error {
	if len(o.set) == 0 {
		return errors.New("no setting: gctrail what-if --set GCgen0size=64M FILE")
	}
	o.sets = nil
	for _, s := range o.set {
		set, err := whatif.ParseSet(s)
		if err != nil {
			return fmt.Errorf("--set: %w", err)
		}
		o.sets = append(o.sets, set)
	}
	return timesConflict(&o.Selection)
}

func (o *whatIfOptions) run(ctx context.Context, std *stdio) error {
	p, err := o.program(ctx, std)
	if err != nil {
		return err
	}
	result := whatif.Predict(p, o.sets)
	if o.format.value == "json" {
		return std.writeTo(o.output, o.traces, func(out *output) error { return json.NewEncoder(out).Encode(whatIfJSON(p, result)) })
	}
	return std.writePageTo(o.output, o.traces, func(page *text.Page) { writeWhatIf(page, p, result) })
}

// program reads the traces as one, and returns the process that collections paused longest,
// one without collections if there is none.
func (o *whatIfOptions) program(ctx context.Context, std *stdio) (*whatif.Program, error) {
	r, err := std.read(ctx, o.traces, open.Options{Want: gc.Wants})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	programs := sums[*gc.Process, whatif.Program]{begin: func() *whatif.Program {
		p := new(whatif.Program)
		p.From, p.To = o.Span(r.Info())
		return p
	}}
	for c, err := range r.Collections(&gc.Model{PerHeap: true}) {
		if err != nil {
			return nil, err
		}
		if o.HasCollection(r.Info(), c) {
			programs.of(c.Process).Add(c)
		}
	}
	r.Warn(report.Missing(r.In, nil))
	n := len(programs.all)
	if n == 0 {
		return &whatif.Program{Process: &gc.Process{}}, nil
	}
	worst := slices.MaxFunc(programs.all, func(a, b *whatif.Program) int { return cmp.Compare(a.Paused(), b.Paused()) })
	if n > 1 {
		r.Warn(fmt.Sprintf("has %d processes with collections; using %s, which paused longest; select another with --process or --pid",
			n, text.Quoted(worst.Process.Name)))
	}
	return worst, nil
}

// writeWhatIf writes a result as text.
func writeWhatIf(p *text.Page, program *whatif.Program, result *whatif.Result) {
	settings := text.Each(result.Settings, func(s *whatif.Set) string { return s.Name + "=" + s.Value.Hex() + " (" + s.Value.Text() + ")" })
	p.Heading("%s with %s", called(program.Process), strings.Join(settings, ", "))
	for _, note := range result.Notes {
		p.Prose("Note: ", note+".")
	}
	for _, why := range result.CannotTell {
		p.Prose("Cannot tell: ", why+".")
	}
	rows := text.Each(result.Metrics, func(m *whatif.Metric) []string {
		return []string{whatIfWords[m.Name], whatIfValue(m, m.Now), whatIfValue(m, m.Low), whatIfValue(m, m.High)}
	})
	p.Line("")
	p.Table([]text.Column{{Heading: "", Left: true}, {Heading: "now"}, {Heading: "at least"}, {Heading: "at most"}}, rows)
	if len(result.Assumes) > 0 {
		p.Line("")
	}
	for _, s := range result.Assumes {
		p.Prose("Assumes: ", s+".")
	}
}

// whatIfWords are the metrics in words.
var whatIfWords = map[string]string{
	"gcs_per_minute":      "GCs a minute",
	"paused_pct":          "time paused",
	"pause_p50_ms":        "pause p50",
	"pause_p99_ms":        "pause p99",
	"pause_max_ms":        "longest pause",
	"committed_max_bytes": "peak committed",
}

// whatIfValue writes a figure of a metric.
func whatIfValue(m *whatif.Metric, v gc.Opt[float64]) string {
	return units.Optional(v, func(f float64) string {
		switch m.Unit {
		case "percent":
			return units.Percent(f)
		case "ms":
			return units.Duration(time.Duration(f * float64(time.Millisecond)))
		case "bytes":
			return units.Bytes(int64(f))
		default:
			return units.Count(int64(f + 0.5))
		}
	})
}

// whatIfJSON returns the document of --format json.
func whatIfJSON(p *whatif.Program, r *whatif.Result) any {
	type setting struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	doc := struct {
		SchemaVersion int             `json:"schema_version"`
		PID           any             `json:"pid"`
		Process       string          `json:"process"`
		Runtime       string          `json:"runtime"`
		Settings      []setting       `json:"settings"`
		Metrics       []whatif.Metric `json:"metrics"`
		Assumes       []string        `json:"assumes"`
		CannotTell    []string        `json:"cannot_tell"`
		Notes         []string        `json:"notes"`
	}{
		SchemaVersion: 1, Process: p.Process.Name, Runtime: p.Process.Runtime, Metrics: r.Metrics,
		Settings: text.Each(r.Settings, func(s *whatif.Set) setting { return setting{s.Name, s.Value.Hex()} }),
		Assumes:  append([]string{}, r.Assumes...), CannotTell: append([]string{}, r.CannotTell...), Notes: append([]string{}, r.Notes...),
	}
	if p.Process.PID != 0 && p.Process.PID != trace.UnknownID {
		doc.PID = p.Process.PID
	}
	return doc
}

// settingHelp lists the settings that --set takes, four a line.
func settingHelp() string {
	var b strings.Builder
	for names := range slices.Chunk(whatif.Names(), 4) {
		b.WriteString("  " + strings.Join(names, ", ") + "\n")
	}
	return b.String()
}
