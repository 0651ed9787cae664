package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	columns := []Column{{Heading: "GC"}, {Heading: "reason", Left: true, Rank: 1}, {Heading: "pause ms"}, {Heading: "promoted MB", Rank: 7}, {Heading: "freed MB", Rank: 4}}
	rows := [][]string{
		{"1", "AllocSmall", "9.282", "13.66", "39.27"},
		{"100", "Induced", "18.824", "-", ">7.27"},
	}
	tests := []struct {
		width int
		want  string
	}{
		{0, `
 GC  reason      pause ms  promoted MB  freed MB
  1  AllocSmall     9.282        13.66     39.27
100  Induced       18.824            -     >7.27
`},
		{40, `
 GC  reason      pause ms  freed MB
  1  AllocSmall     9.282     39.27
100  Induced       18.824     >7.27
`},
		{20, `
 GC  pause ms
  1     9.282
100    18.824
`},
		{5, `
 GC …
  1 …
100 …
`},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		tab := Table{W: &b, Columns: columns, Width: tt.width}
		for _, r := range rows {
			if err := tab.Row(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := tab.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != tt.want[1:] {
			t.Errorf("width %d:\n%s\nwant:\n%s", tt.width, got, tt.want[1:])
		}
	}
}

// TestTableStreams: rows come at once, except for the first ones, which settle the
// widths.
func TestTableStreams(t *testing.T) {
	var b bytes.Buffer
	tab := Table{W: &b, Columns: []Column{{Heading: "n"}, {Heading: "word", Left: true}}, Bold: true}
	for i := range tableHold {
		if err := tab.Row([]string{fmt.Sprint(i), "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(b.String(), "\x1b[1m  n  word\x1b[0m\n  0  a\n") {
		t.Errorf("begins %q", b.String()[:40])
	}
	b.Reset()
	if err := tab.Row([]string{"12345", "wider"}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "12345  wider\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestVaries checks that a column whose cells are all the same is left out, and that
// the first other cell begins a table with it.
func TestVaries(t *testing.T) {
	for rows, want := range map[int]string{
		10:            "pid  n\n  1  a\n", // the other process is known when the table begins
		tableHold + 5: "n\na\n",           // it is not
		0:             "pid  n\n  2  b\n", // there is only one row of the first process
		-1:            "n\nb\n",           // there is one process
	} {
		var b strings.Builder
		tab := Table{W: &b, Columns: []Column{{Heading: "pid", Varies: true}, {Heading: "n"}}}
		for range rows {
			_ = tab.Row([]string{"1", "a"})
		}
		if rows == 0 {
			_ = tab.Row([]string{"2", "b"})
			_ = tab.Row([]string{"1", "a"})
		} else {
			_ = tab.Row([]string{"2", "b"})
		}
		_ = tab.Flush()
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("%d rows of the first process: %q", rows, b.String()[:min(b.Len(), 40)])
		}
		if rows > tableHold && !strings.HasSuffix(b.String(), "a\npid  n\n  2  b\n") {
			t.Errorf("the second process is at the end of %q", b.String()[b.Len()-40:])
		}
		if tab.LeftOut != 0 {
			t.Errorf("%d columns are left out", tab.LeftOut)
		}
	}
}
