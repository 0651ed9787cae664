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

// Rows after those that settle the widths come at once.
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
