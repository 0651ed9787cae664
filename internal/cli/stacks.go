package cli

import (
	"fmt"
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

// writeUnresolved writes how many of some things have no stack, and how many frames no
// name, why, and which command, if any, records them. Dropped is how many methods the table
// of symbols had no room for.
func writeUnresolved(p *text.Page, tally *symbol.Tally, things string, dropped int, record string) {
	of := func(n, all int64) string { return units.Percent(100 * float64(n) / float64(max(1, all))) }
	all := tally.All()
	worthSaying := func(why symbol.Reason) (n int64, ok bool) {
		n = tally.Frames[why]
		return n, n > 0 && n*1000 >= all
	}
	again := false // another trace has the missing names
	switch {
	case tally.NoStack == tally.Samples:
		p.Prose("Stacks: ", "this trace has none.")
		again = true
	case tally.NoStack > 0:
		p.Prose("Stacks: ", of(tally.NoStack, tally.Samples)+" of the "+things+" have no stack: the runtime raised their events where its stack walk finds no method.")
	}
	if n := tally.Other; n > 0 {
		p.Prose("Stacks: ", of(n, tally.Samples)+" of the "+things+" have stacks that there was no room for.")
	}
	if n, ok := worthSaying(symbol.NoMethods); ok {
		p.Prose("Names: ", of(n, all)+" of the frames have none, because the trace lists no methods of this process (no rundown).")
		again = true
	}
	if n, ok := worthSaying(symbol.Unlisted); ok {
		p.Prose("Names: ", of(n, all)+" of the frames have none: no event names the code at these addresses. It was unloaded, or the trace ends before the rundown; "+
			"let collect stop by itself or with Ctrl-C.")
	}
	if n, ok := worthSaying(symbol.Native); ok {
		p.Prose("Names: ", fmt.Sprintf("%s of the frames are native code (%s).", of(n, all), strings.Join(tally.NativeModules(3), ", ")))
	}
	if again && record != "" {
		p.Line("To record stacks with names:")
		p.Command("  ", record)
	}
	if dropped > 0 {
		p.Prose("Names: ", fmt.Sprintf("no room for %s.", text.Counted(dropped, "method")))
	}
}
