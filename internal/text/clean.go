package text

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// Clean returns s with a question mark for each character that a terminal would
// obey rather than show: controls, and those that turn the direction of text.
// Pages, tables and printers clean what they are given.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// A literal is a format that the source holds: strings that are made when the
// program runs do not convert to it.
type literal string

// cleaned is fmt.Sprintf, but that nothing in the arguments controls the terminal.
func cleaned(format literal, args []any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg.(type) {
		case nil, bool, int, int64, int32, uint, uint64, uint32, uint16, uint8, float64:
			safe[i] = arg
		default:
			safe[i] = argument{arg}
		}
	}
	return fmt.Sprintf(string(format), safe...)
}

// An argument formats a value and cleans the result.
type argument struct{ value any }

// Format implements fmt.Formatter.
func (a argument) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Clean(fmt.Sprintf(fmt.FormatString(f, verb), a.value)))
}

// logCommand is what the logs of GitHub Actions and Azure Pipelines take for a command
// to them.
var logCommand = regexp.MustCompile(`(?m)^([ \t]*):(:)|#(#(?:\[|vso\[))`)

// disarmed returns lines without such commands: a line may begin with a name.
func disarmed(lines string) string {
	if !strings.Contains(lines, "::") && !strings.Contains(lines, "##") {
		return lines
	}
	return logCommand.ReplaceAllString(lines, "$1?$2$3")
}
