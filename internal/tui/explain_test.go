package tui

import (
	"testing"

	"github.com/gctrail/gctrail/internal/report"
)

// TestHeadingsAreExplained checks that report --explain knows the headings.
func TestHeadingsAreExplained(t *testing.T) {
	for _, c := range figureColumns {
		if len(report.Definitions(c.heading)) == 0 {
			t.Errorf("%s is not explained", c.heading)
		}
	}
}
