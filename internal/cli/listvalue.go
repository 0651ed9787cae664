package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// The values of listings. An empty word and an unknown number are unknown.

func wordOf(s string) column.Value {
	if s == "" {
		return column.Value{}
	}
	return column.Value{Type: column.Text, Text: s}
}

func countOf[T ~int | ~int64 | ~uint16 | ~uint32](n T) column.Value {
	return column.Value{Type: column.Int, Int: int64(n)}
}

func boolOf(v bool) column.Value {
	n := int64(0)
	if v {
		n = 1
	}
	return column.Value{Type: column.Bool, Int: n}
}

func bytesOf(n int64) column.Value { return column.Value{Type: column.Bytes, Int: n} }

func timeOf(d time.Duration) column.Value { return column.Value{Type: column.Millis, Int: int64(d)} }

func floatOf(v float64) column.Value { return column.Value{Type: column.Float, Float: v} }

func percentOf(v float64) column.Value { return column.Value{Type: column.Percent, Float: v} }

// shareOf returns n's part of all, in percent.
func shareOf(n, all int64) column.Value {
	if all == 0 {
		return column.Value{}
	}
	return percentOf(100 * float64(n) / float64(all))
}

func listOf(words []string) column.Value {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ReplaceAll(w, "\n", " ") + "\n")
	}
	return column.Value{Type: column.List, Text: b.String()}
}

// knownIf returns v if it is known.
// ifKnown returns the value of a figure, the unknown one if it is unknown.
func ifKnown[T any](figure gc.Opt[T], value func(T) column.Value) column.Value {
	v, known := figure.Get()
	return knownIf(known, value(v))
}

func knownIf(known bool, v column.Value) column.Value {
	if !known {
		return column.Value{}
	}
	return v
}

// valueOf returns a figure as value shows it, or the unknown value.
func valueOf[T any](v gc.Opt[T], value func(T) column.Value) column.Value {
	if figure, ok := v.Get(); ok {
		return value(figure)
	}
	return column.Value{}
}

func pidOf(pid uint64) column.Value {
	return knownIf(pid != trace.UnknownID, column.Value{Type: column.Int, Int: int64(pid)})
}

// listCell returns a value for people: times in ms, sizes in MB.
func listCell(v column.Value) string {
	switch v.Type {
	case column.Int:
		return units.Count(v.Int)
	case column.Bytes:
		return units.MB(v.Int)
	case column.Millis:
		return units.Millis(time.Duration(v.Int))
	case column.Float:
		return strings.TrimSuffix(units.Percent(v.Float), " %")
	case column.Percent:
		return strings.TrimSuffix(units.Percent(v.Float), " %")
	default:
		return cell(v)
	}
}

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
