// Package export contains the common parts of the writers of other tools' formats, and writes
// CSV. Each package below it writes one format.
package export

import (
	"fmt"
	"iter"
	"sync"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
)

// A Writer writes collections in the format of another tool.
type Writer interface {
	// Add writes a collection, or adds it to totals. Collections must come in
	// order of their start.
	Add(c *gc.Collection) error
	// Close ends the file. It does not close the underlying writer.
	Close() error
}

// Kind returns the generation and kind of a collection, as in "gen 1 blocking".
func Kind(c *gc.Collection) string {
	generation := "gen ?"
	if g, known := c.Generation.Get(); known {
		generation = fmt.Sprintf("gen %d", g)
	}
	if c.Kind == gc.KindUnknown {
		return generation
	}
	return generation + " " + c.Kind.String()
}

// Figures yields the known figures of a collection for a timeline, by name.
func Figures(c *gc.Collection) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, f := range figures() {
			if v := f.Value(c); v.Type != figure.Unknown && !yield(f.Key, v.Int) {
				return
			}
		}
	}
}

// FigureLabels yields the names of all figures that Figures can yield, with
// their labels.
func FigureLabels() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, f := range figures() {
			if !yield(f.Key, f.Label) {
				return
			}
		}
	}
}

var figures = sync.OnceValue(figure.InTimelines)
