package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/text"
)

// TestHelpFits checks that help fits a terminal of 80 columns. Commands to type
// stay in one line.
func TestHelpFits(t *testing.T) {
	var fits func(cmd *cobra.Command)
	fits = func(cmd *cobra.Command) {
		for line := range strings.SplitSeq(cmd.Long, "\n") {
			if text.Width(line) > helpWidth && !strings.Contains(line, "gctrail ") {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), text.Width(line), line)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() != "completion" {
				fits(sub)
			}
		}
	}
	fits(newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}))
}
