package selection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/extent"
)

//go:generate go test -run TestTypeScript -update

// TestTypeScript holds the page's words and units of conditions to the ones here; -update
// writes them.
func TestTypeScript(t *testing.T) { extent.Golden(t, "../../web/src/data/words.ts", typeScript()) }

func typeScript() string {
	var b strings.Builder
	b.WriteString(`// The words and units of conditions. Made of gc/figure by go generate ./internal/selection.

export interface Dimension {
  is: string;
  example: string;
  units: Record<string, number>; // in lower case
  bare: boolean; // the unit may be left out
}

export interface Word {
  name: string;
  meaning: string;
  example: string;
  column: string | null; // null if it is computed
  dimension: Dimension | null; // null of words
  below: number; // 0 for no limit
}

export const words: Word[] = [
`)
	for _, w := range words() {
		if w.ofRequest {
			continue // a page's conditions are of collections
		}
		column := fmt.Sprintf("%q", w.Key)
		switch {
		case w.Only == figure.InConditions:
			column = "null"
		case w.Type == figure.Millis:
			column = fmt.Sprintf("%q", strings.TrimSuffix(w.Key, "_ms")+"_us")
		}
		dimension := "null"
		if w.in != nil {
			var units []string
			for _, u := range w.in.Units {
				size := u.Size
				if w.Type == figure.Millis {
					size /= 1e3 // the page has microseconds
				}
				units = append(units, fmt.Sprintf("%q: %g", strings.ToLower(u.Name), size))
			}
			dimension = fmt.Sprintf("{ is: %q, example: %q, units: { %s }, bare: %t }", w.in.Is, w.in.Example, strings.Join(units, ", "), w.in.Bare)
		}
		fmt.Fprintf(&b, "  { name: %q, meaning: %q, example: %q, column: %s, dimension: %s, below: %d },\n",
			w.Until.Word, w.Until.Meaning, w.Until.Example, column, dimension, w.Until.Below)
	}
	b.WriteString("];\n")
	return b.String()
}
