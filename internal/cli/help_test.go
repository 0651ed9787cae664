package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/internal/text"
)

// TestHelpFits checks that the help of every command fits a terminal of 80 columns,
// and describes every flag.
func TestHelpFits(t *testing.T) {
	var fits func(cmd *cobra.Command)
	fits = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if text.Width(line) > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), text.Width(line), line)
			}
		}
		words := strings.Join(strings.Fields(out.String()), " ")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			if !f.Hidden && (usage == "" || !strings.Contains(words, strings.Join(strings.Fields(usage), " "))) {
				t.Errorf("%s: --%s is not described by %q", cmd.CommandPath(), f.Name, usage)
			}
		})
		for _, sub := range cmd.Commands() {
			fits(sub)
		}
	}
	fits(newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}))
}
