package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/text"
)

// helpWidth is how wide help is: that of the flags too.
const helpWidth = 80

// fitHelp wraps the paragraphs in the help of cmd and of the commands below it.
func fitHelp(cmd *cobra.Command) {
	cmd.Long = fitParagraphs(cmd.Long)
	for _, sub := range cmd.Commands() {
		fitHelp(sub)
	}
}

// fitParagraphs wraps consecutive lines that are not indented. Indented lines are
// tables and commands, and stay as they are.
func fitParagraphs(s string) string {
	var lines, paragraph []string
	flush := func() {
		lines = append(lines, text.Wrap(strings.Join(paragraph, " "), helpWidth)...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '\t' {
			flush()
			lines = append(lines, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	flush()
	return strings.Join(lines, "\n")
}
