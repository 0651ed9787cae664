package cli

import (
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/chart"
	"github.com/gctrail/gctrail/internal/report"
)

// A drawing is the flag --chart, and the chart: of the process with the longest total
// pause.
type drawing struct {
	path   string
	series sums[*gc.Process, chart.Series]
}

// maxDrawn bounds the processes whose collections are kept for a picture.
const maxDrawn = 256

// check refuses unknown formats.
func (d *drawing) check(traces int) error {
	switch ext := strings.ToLower(filepath.Ext(d.path)); {
	case d.path == "":
		return nil
	case ext != ".svg" && ext != ".png":
		return errors.New("--chart writes .svg and .png files")
	case traces > 1:
		return errors.New("--chart draws one trace; use --merge to read several as one")
	}
	return nil
}

// A charted reading retains the picture's data of its collections.
type charted struct {
	*reading
	*drawing
	has func(*gc.Collection) bool
}

// Collections yields the collections of the reading.
func (r charted) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	return func(yield func(*gc.Collection, error) bool) {
		for c, err := range r.reading.Collections(m, models...) {
			if err == nil && r.has(c) {
				r.draw(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (d *drawing) draw(c *gc.Collection) {
	if len(d.series.all) < maxDrawn || d.series.by[c.Process] != nil {
		d.series.of(c.Process).Add(c)
	}
}

// write draws the process that is worst.
func (d *drawing) write(std *stdio, o *reportOptions, rep *report.Report, from, to time.Duration) error {
	p, _ := rep.Worst()
	s := d.series.by[p]
	if s == nil {
		return nil
	}
	title := called(p)
	if p.Runtime != "" {
		title += ", " + p.Runtime
	}
	draw := (*chart.Series).WriteSVG
	if strings.EqualFold(filepath.Ext(d.path), ".png") {
		draw = (*chart.Series).WritePNG
	}
	return std.writeTo(d.path, o.files, func(out *output) error { return draw(s, out, title, rep.Verdict(), from, to) })
}
