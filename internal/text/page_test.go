package text

import (
	"strings"
	"testing"
)

// TestLongWords checks that no line of prose is wider than a terminal, that nothing
// of a long word is lost, and that a pipe gets it in one piece.
func TestLongWords(t *testing.T) {
	words := []string{
		strings.Repeat("x", 100),
		"/srv/traces/" + strings.Repeat("a-folder/", 12) + "app.nettrace",
		strings.Repeat("字", 60),
		"e" + strings.Repeat("\u0301", 90),
		strings.Repeat("👩‍👩‍👧‍👦", 40),
	}
	for _, word := range words {
		for _, width := range []int{40, 60, 80} {
			p := PageOn(Terminal{Is: true, Width: width})
			p.Unicode = true
			p.Spans("  - ", Span{Text: "of"}, Span{Text: word + " and more", Style: Strong})
			for line := range strings.Lines(p.String()) {
				if n := Width(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d cells in a line of %d: %q", n, width, line)
				}
			}
			joined := strings.NewReplacer("\n", "", " ", "").Replace(p.String())
			if want := "-of" + strings.ReplaceAll(Clean(word), " ", "") + "andmore"; joined != want {
				t.Errorf("width %d: %q became %q", width, want, joined)
			}
		}
		p := PageOn(Terminal{})
		p.Unicode = true
		p.Prose("", word)
		if got := strings.TrimSuffix(p.String(), "\n"); got != Clean(word) {
			t.Errorf("a pipe got %q", got)
		}
	}
}

// TestCommandRows checks how many rows a command takes.
func TestCommandRows(t *testing.T) {
	p := PageOn(Terminal{Is: true, Width: 40})
	for n, want := range map[int]int{1: 1, 36: 1, 37: 2, 76: 2, 77: 3} {
		if got := p.CommandRows("  ", strings.Repeat("x", n)); got != want {
			t.Errorf("%d letters: %d rows, want %d", n, got, want)
		}
	}
	if got := PageOn(Terminal{}).CommandRows("  ", strings.Repeat("x", 200)); got != 1 {
		t.Errorf("%d rows in a pipe", got)
	}
}
