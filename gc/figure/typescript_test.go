package figure

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
)

//go:generate go test -run TestTypeScript -update

// TestTypeScript holds the columns of the page's table of collections to the ones here;
// -update writes them.
func TestTypeScript(t *testing.T) { extent.Golden(t, "../../web/src/data/columns.ts", typeScript()) }

var (
	formNames   = map[Form]string{FormPlain: "plain", FormMoment: "moment", FormWord: "word"}
	formsOfType = map[Type]string{Int: "count", Bytes: "size", Millis: "time", Percent: "percent", Rate: "rate"}
)

func typeScript() string {
	var b strings.Builder
	b.WriteString(`// The figures that the table of collections can show. Made of gc/figure by go generate ./gc/figure.

export type Form = "count" | "moment" | "percent" | "plain" | "rate" | "size" | "time" | "word";

export interface Figure {
  id: string; // in the page's address
  label: string;
  term: string; // the name of a definition in internal/report
  width: number; // in characters
  start: boolean; // shown from the start
  column: string | null; // null if it is computed
  form: Form;
}

export const figures: Figure[] = [
`)
	for _, f := range OnPage() {
		form := cmp.Or(formNames[f.Form], formsOfType[f.Type])
		if f.Type == Percent {
			form = formsOfType[Percent] // with its sign, whole or not
		}
		column := fmt.Sprintf("%q", f.Key)
		switch {
		case f.Only == InConditions:
			column = "null"
		case f.Type == Millis:
			column = fmt.Sprintf("%q", strings.TrimSuffix(f.Key, "_ms")+"_us") // the page has microseconds
		}
		fmt.Fprintf(&b, "  { id: %q, label: %q, term: %q, width: %d, start: %t, column: %s, form: %q },\n",
			f.Page.ID, f.Page.Label, f.Term, cmp.Or(f.Page.Width, 8), f.Page.Start, column, form)
	}
	b.WriteString("];\n")
	return b.String()
}
