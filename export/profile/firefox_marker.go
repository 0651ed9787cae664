package profile

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/jsontext"
)

// The categories of markers and frames. The first grey one is the default.
const (
	categoryOther = iota
	categoryGC
	categoryCode
	categoryType
)

var categories = []category{
	categoryOther: {"Other", "grey", []string{"Other"}},
	categoryGC:    {"GC", "orange", []string{"Other"}},
	categoryCode:  {"Code", "blue", []string{"Other"}},
	categoryType:  {"Type", "green", []string{"Other"}},
}

// Phases of a marker.
const (
	phaseInstant  = 0
	phaseInterval = 1
)

// schemas describe the markers.
func schemas() []schema {
	chart := []string{"marker-chart", "marker-table", "timeline-overview"}
	number := schemaField{"number", "GC number", "integer"}
	what := []schemaField{number, {"generation", "Generation", "string"}, {"kind", "Kind", "string"}, {"reason", "Reason", "string"}}
	for name, label := range export.FigureLabels() {
		format := "bytes"
		if name == "pinned_objects" {
			format = "integer"
		}
		what = append(what, schemaField{name, label, format})
	}
	what = append(what, schemaField{"affected_by_loss", "Events were lost", "string"})
	return []schema{
		{
			Name: "Pause", Display: chart, Table: "GC {marker.data.number}, {marker.data.reason}", Chart: "GC {marker.data.number}",
			Description: "The program's threads are paused for a GC.",
			Fields:      append([]schemaField{{"pause", "Pause", "string"}, {"suspend_ms", "Suspension", "milliseconds"}}, what...),
		},
		{
			Name: "Suspension", Display: chart[:2], Table: "GC {marker.data.number}", Chart: "GC {marker.data.number}",
			Description: "The runtime waits for the program's threads to stop.", Fields: []schemaField{number},
		},
		{
			Name: "GC", Display: chart[:2], Table: "GC {marker.data.number}, {marker.data.reason}", Chart: "GC {marker.data.number}",
			Description: "A GC, from its start to its end. Threads run during most of a background GC.", Fields: what,
		},
		{
			Name: "Finding", Display: chart[:2], Table: "{marker.data.says}",
			Description: "What gctrail found, with the GCs that show it.",
			Fields:      []schemaField{{"says", "Finding", "string"}, {"collections", "GCs", "string"}},
		},
	}
}

// data is the JSON object of a marker's payload, without its closing brace.
type data []byte

// payload begins the payload of a marker of some type.
func payload(typ string) *data {
	d := data(`{"type":"` + typ + `"`)
	return &d
}

func (d *data) key(name string) {
	*d = append(append(append(*d, `,"`...), name...), `":`...)
}

func (d *data) number(name string, v int64) *data {
	d.key(name)
	*d = strconv.AppendInt(*d, v, 10)
	return d
}

func (d *data) text(name, v string) *data {
	d.key(name)
	*d = jsontext.AppendString(*d, v)
	return d
}

func pauseMarker(c *gc.Collection, p *gc.Pause) *data {
	d := payload("Pause").text("pause", p.Kind.String())
	if suspend, known := p.Suspend.Get(); known {
		d.key("suspend_ms")
		*d = strconv.AppendFloat(*d, millis(suspend), 'f', -1, 64)
	}
	return d.describe(c)
}

// describe adds the description and the figures of a collection.
func (d *data) describe(c *gc.Collection) *data {
	d.number("number", int64(c.Number))
	if g, known := c.Generation.Get(); known {
		d.text("generation", "gen"+strconv.Itoa(g))
	}
	d.text("kind", c.Kind.String())
	if r, known := c.Reason.Get(); known {
		d.text("reason", r.String())
	}
	for name, v := range export.Figures(c) {
		d.number(name, v)
	}
	if c.AffectedByLoss {
		d.text("affected_by_loss", "yes")
	}
	return d
}

// interval adds a marker with a duration.
func (w *Firefox) interval(p *firefoxProcess, name string, start, length time.Duration, d *data) {
	w.marker(p, name, start, start+length, phaseInterval, d)
}

func (w *Firefox) marker(p *firefoxProcess, name string, start, end time.Duration, phase int, d *data) {
	w.last = max(w.last, end)
	m := &p.thread.Markers
	m.Data = append(m.Data, json.RawMessage(append(*d, '}')))
	m.Name = append(m.Name, w.tables.text(name))
	m.Start, m.End = append(m.Start, millis(start)), append(m.End, millis(end))
	m.Phase = append(m.Phase, phase)
	m.Category = append(m.Category, categoryGC)
	m.Length++
}
