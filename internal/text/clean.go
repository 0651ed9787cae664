package text

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// Clean returns s with a question mark for each character that a terminal would obey
// rather than show: controls, and characters that turn the direction of text. Pages,
// tables and printers clean their input.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// A literal is a format in the source code. Strings made at run time do not convert to
// it, so that a name cannot become a format.
type literal string

// cleaned is fmt.Sprintf with cleaned arguments, so that none of them controls the
// terminal.
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

// logCommand matches text that the logs of GitHub Actions and Azure Pipelines would
// execute as a command.
var logCommand = regexp.MustCompile(`(?m)^([ \t]*):(:)|#(#(?:\[|vso\[))`)

// disarmed breaks such commands in lines, because a line may begin with a name from a
// trace.
func disarmed(lines string) string {
	if !strings.Contains(lines, "::") && !strings.Contains(lines, "##") {
		return lines
	}
	return logCommand.ReplaceAllString(lines, "$1?$2$3")
}
