package agent

import (
	"strings"
	"testing"
)

// TestAllocatedHelp checks that the help of metrics of allocated bytes states up to when
// they count and that they may be too low, because they carry no mark.
func TestAllocatedHelp(t *testing.T) {
	for m, wants := range map[*metric][]string{
		allocated:      {"up to the start of the latest collection", "at least"},
		allocationRate: {"between the latest two collections", "at least, or about"},
	} {
		for _, want := range wants {
			if !strings.Contains(m.help, want) {
				t.Errorf("%s: %q lacks %q", m.name, m.help, want)
			}
		}
	}
}
