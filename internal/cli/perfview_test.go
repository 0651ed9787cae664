package cli

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/internal/text"
)

// TestPerfviewDiffers: a figure that differs in every row is named once, below the
// table, and one that differs in some in their rows.
func TestPerfviewDiffers(t *testing.T) {
	own := func(v float64) func(*gc.Collection) gc.Opt[float64] {
		return func(*gc.Collection) gc.Opt[float64] { return gc.Some(v) }
	}
	number := func(g *perfview.GC) float64 { return float64(g.Number) }
	rows := []perfviewRow{{&perfview.GC{Number: 1}, nil}, {&perfview.GC{Number: 2}, nil}}
	always := perfview.Column{Name: "Always", Number: number, Own: own(7), Why: "seven"}
	once := perfview.Column{Name: "Once", Number: number, Own: own(2), Why: "two"}
	for _, test := range []struct {
		columns []perfview.Column
		want    string
	}{
		{[]perfview.Column{always, once}, "Always  Once  Differs\n     1     1  Once\n     2     2\n" +
			"Always differs in every row: gctrail's is seven.\nOnce differs: gctrail's is two.\n"},
		{[]perfview.Column{always}, "Always\n     1\n     2\nAlways differs in every row: gctrail's is seven.\n"},
	} {
		page := &text.Page{Width: 80}
		(&perfviewTable{title: "Table", columns: test.columns, differs: true}).write(page, rows)
		if _, got, _ := strings.Cut(string(page.Bytes()), "Table\n"); got != test.want {
			t.Errorf("got\n%swant\n%s", got, test.want)
		}
	}
}
