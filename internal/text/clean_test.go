package text

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNothingObeyed: a terminal shows whatever is written to pages, tables and printers,
// and obeys none of it.
func TestNothingObeyed(t *testing.T) {
	const bad = "a\x1b[31m\u009b2J\u202eb\x7f"
	const good = "a?[31m?2J?b?"
	var b bytes.Buffer
	printer := NewPrinter(&b)
	_ = printer.Line("%s %q %v %5d %v", bad, bad, errors.New(bad), 7, 2*time.Second)
	page := PageOn(Terminal{Colour: true})
	page.Line("%-14s|", bad)
	page.Heading("%s", bad)
	page.Prose(bad, bad)
	page.Spans("", Span{bad, Problem}, Span{Text: "plain"})
	page.Command("", bad)
	page.Table([]Column{{Heading: bad}}, [][]string{{bad}})
	_ = printer.Page(page)
	printer.Status(bad+"\nx", 10)
	want := good + ` "a\x1b[31m\u009b2J\u202eb\x7f" ` + good + "     7 2s\n" +
		good + "  |\n\x1b[1m" + good + "\x1b[0m\n" + good + good + "\n\x1b[31m" + good + "\x1b[0m plain\n$ " + good + "\n" +
		good + "\n" + good + "\n\r\x1b[K" + good[:8] + "…"
	if got := b.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestNoLogCommands: no printed line is a command to the log of a build.
func TestNoLogCommands(t *testing.T) {
	for in, want := range map[string]string{
		"::error::forged":         "?:error::forged",
		" \t::error::forged":      " ?::error::forged",
		"##vso[task.complete]":    "?#vso[task.complete]",
		"a ##[error]b":            "a ?#[error]b",
		"System::String ## [1] a": "System::String ## [1] a",
	} {
		var b bytes.Buffer
		printer, page := NewPrinter(&b), PageOn(Terminal{})
		_ = printer.Line("%s", in)
		page.Line("%s", in)
		page.Table([]Column{{Heading: in, Left: true}}, [][]string{{in}})
		page.List([]Column{{Heading: "h"}}, [][]string{{""}}, func(int) []string { return []string{in} })
		_ = printer.Page(page)
		if got := b.String(); strings.Count(got, want+"\n") != 5 {
			t.Errorf("%q: %q, want %q in five lines", in, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	const in, want = "a|b\\|c <i>&#124; `x` *y* _z_ [l](u) # h\n| forged |", `a\|b\\\|c &lt;i&gt;&amp;\#124; 'x' \*y\* \_z\_ \[l](u) \# h?\| forged \|`
	if got := Markdown(in); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"abc": 3, "日本": 4, "é": 1, "\x1b[31mx\x1b[0m": 1} {
		if got := Width(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	for _, tt := range []struct {
		s     string
		width int
		want  string
	}{
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"abc", 2, "a…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"❤️❤️❤️", 5, "❤️❤️…"},
		{"a1️⃣bc", 3, "a1…"},
		{"a  b", 3, "a …"},
	} {
		if got := Cut(tt.s, tt.width); got != tt.want {
			t.Errorf("%q cut to %d: %q, want %q", tt.s, tt.width, got, tt.want)
		}
	}
}

// TestWrapPercent checks that a number and its percent sign stay in one line.
func TestWrapPercent(t *testing.T) {
	for _, tt := range []struct {
		width int
		want  []string
	}{
		{13, []string{"pauses took", "36.0 % of 4 s"}},
		{14, []string{"pauses took", "36.0 % of 4 s"}},
		{18, []string{"pauses took 36.0 %", "of 4 s"}},
	} {
		if got := Wrap("pauses took 36.0 % of 4 s", tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("width %d: %q, want %q", tt.width, got, tt.want)
		}
	}
	p := &Page{Width: 17}
	p.Prose("", "pauses took 36.0 % of 4 s")
	if got := string(p.Bytes()); got != "pauses took\n36.0 % of 4 s\n" {
		t.Errorf("page: %q", got)
	}
}
