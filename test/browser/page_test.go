package browser

import (
	"fmt"
	"testing"
)

// sizes are those of a phone, a laptop and a large screen.
var sizes = []size{{360, 740}, {1280, 900}, {3840, 2160}}

// TestOpens opens the page from a file: it shows everything, fits the window, and
// asks nobody for anything.
func TestOpens(t *testing.T) {
	url := pageOf(t, fixture("net10-wks-stacks.nettrace.gz"))
	for _, of := range sizes {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d %s", of.width, scheme), func(t *testing.T) {
				b := newTab(t, of)
				b.media(scheme, "")
				b.open(url)
				for _, part := range []string{".verdict .sentence", ".figures", ".findings li", ".evidence", "#chart-pauses canvas", "#chart-heap canvas", "#chart-rate canvas", "#chart-committed canvas", ".percentiles td", ".histogram rect", ".grid .rows .row", ".allocations .types tr", ".flame canvas"} {
					b.at(part, 0.5, 0.5)
				}
				if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					b.Errorf("the page is %d pixels too wide", over)
				}
				b.settle()
				b.shoot(fmt.Sprintf("opens-%d-%s", of.width, scheme))
				b.blameless("GET " + url)
			})
		}
	}
}
