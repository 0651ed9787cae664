package cli

import (
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/symbol"
)

// stackNames returns the names of a stack's frames, leaf first.
func stackNames(stacks *symbol.Stacks, id symbol.StackID) []string {
	var names []string
	if stacks != nil {
		for f := range stacks.Frames(id) {
			names = append(names, f.String())
		}
	}
	return names
}

// shownFrames is how many frames of a stack a table has.
const shownFrames = 12

// stackLines returns a stack's frames below a row of a table.
func stackLines(stacks *symbol.Stacks, id symbol.StackID) []string {
	switch id {
	case symbol.NoStack:
		return []string{"      (no stack)"}
	case symbol.OtherStacks:
		return []string{"      (other stacks)"}
	}
	var lines []string
	more, unnamed := 0, 0
	var modules []string // of the frames without a name
	add := func(line string, frames int) {
		if len(lines) < shownFrames {
			lines = append(lines, "      "+line)
			return
		}
		more += frames
	}
	flush := func() {
		if unnamed > 0 {
			line := text.Plural(int64(unnamed), "frame", "frames") + " without a name"
			if len(modules) > 0 {
				line += ", in " + strings.Join(modules, ", ")
			}
			add("("+line+")", unnamed)
		}
		unnamed, modules = 0, modules[:0]
	}
	for f := range stacks.Frames(id) {
		if f.Resolved() {
			flush()
			add(f.Method, 1)
			continue
		}
		unnamed++
		if f.Module != "" && !slices.Contains(modules, f.Module) {
			modules = append(modules, f.Module)
		}
	}
	flush()
	if more > 0 {
		lines = append(lines, "      and "+units.Count(more)+" more")
	}
	return lines
}
