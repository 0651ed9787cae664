package text

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells of a terminal a line takes, without the escapes in it.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// plain reports whether s is printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// cutMark ends text that was shortened. Both it and its replacement in ASCII take one
// cell.
const cutMark = "…"

// Cut cleans text and shortens it to at most so many cells. Shortened text ends in an
// ellipsis.
func Cut(s string, width int) string {
	s = Clean(s)
	switch {
	case Width(s) <= width:
		return s
	case width < 1:
		return ""
	case width == 1:
		return cutMark
	}
	s = ansi.Truncate(s, width-1, "")
	for Width(s) > width-1 { // a digit in a keycap counts as one cell there
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s + cutMark
}

// Wrap cleans text and breaks it into lines of at most so many cells, at spaces and
// line ends, but not before a percent sign. A word that is longer is cut.
func Wrap(s string, width int) []string {
	if width < 1 {
		return nil
	}
	return fill(width, func(yield func(string) bool) {
		for word := range words(s) {
			if !yield(Cut(word, width)) {
				return
			}
		}
	})
}

// fill returns lines of pieces, such as words, of at most so many cells; a longer piece has a line
// of its own.
func fill(width int, pieces iter.Seq[string]) []string {
	var lines []string
	room := 0 // in the last line
	for piece := range pieces {
		n := Width(piece)
		if len(lines) == 0 || 1+n > room {
			lines, room = append(lines, piece), width-n
			continue
		}
		lines[len(lines)-1] += " " + piece
		room -= 1 + n
	}
	return lines
}

// words yields the words of s, a number together with the percent sign after it.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fields := strings.Fields(s)
		for i := 0; i < len(fields); i++ {
			word := fields[i]
			if i+1 < len(fields) && strings.HasPrefix(fields[i+1], "%") {
				i++
				word += " " + fields[i]
			}
			if !yield(word) {
				return
			}
		}
	}
}

// maxCell bounds the bytes of a cell, because any number of combining characters may
// follow a character.
const maxCell = 64

// firstPiece returns the beginning of a long word that fits a number of cells, at
// least 2. It ends after a separator if there is one in its second half.
func firstPiece(word string, cells int) string {
	end := 0
	for i, r := range word {
		next := i + utf8.RuneLen(r)
		if end > 0 && (next > maxCell*cells || Width(word[:next]) > cells) {
			break
		}
		end = next
	}
	if i := strings.LastIndexAny(word[:end], `/\.,:;+_-`); i >= end/2 {
		return word[:i+1]
	}
	return word[:end]
}

// PadLeft cleans text, cuts it to a width, and fills it up with spaces before it.
func PadLeft(s string, width int) string {
	s = Cut(s, width)
	return strings.Repeat(" ", max(0, width-Width(s))) + s
}

// PadRight cleans text, cuts it to a width, and fills it up with spaces behind it.
func PadRight(s string, width int) string {
	s = Cut(s, width)
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}
