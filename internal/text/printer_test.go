package text

import (
	"bytes"
	"strings"
	"testing"
)

// TestLines breaks lines between words on a terminal only.
func TestLines(t *testing.T) {
	const collecting = "gctrail: collecting from web 4711 to /var/tmp/web_4711.nettrace; press Ctrl-C to stop"
	const missing = "gctrail: shop: no such file; if it is a process, watch it with: gctrail top shop, or record it with: gctrail collect -p shop"
	for _, test := range []struct {
		line  string
		width int
		want  string
	}{
		{collecting, 0, collecting},
		{collecting, 85, collecting},
		{collecting, 80, "gctrail: collecting from web 4711 to /var/tmp/web_4711.nettrace; press Ctrl-C to\nstop"},
		{collecting, 30, "gctrail: collecting from web\n4711 to\n/var/tmp/web_4711.nettrace;\npress Ctrl-C to stop"},
		{missing, 64, "gctrail: shop: no such file; if it is a process, watch it with:\ngctrail top shop, or record it with: gctrail collect -p shop"},
		{missing, 50, "gctrail: shop: no such file; if it is a process,\nwatch it with: gctrail top shop, or record it\nwith: gctrail collect -p shop"},
		{missing, 12, "gctrail:\nshop: no\nsuch file;\nif it is a\nprocess,\nwatch it\nwith:\ngctrail top shop,\nor record it\nwith:\ngctrail collect -p shop"},
		{"gctrail: " + strings.Repeat("x", 90) + " end", 80, "gctrail:\n" + strings.Repeat("x", 90) + "\nend"},
		{"GCs paused 12.5 % of the time", 20, "GCs paused 12.5 % of\nthe time"},
		{"GCs paused 12.5 % of the time", 16, "GCs paused\n12.5 % of the\ntime"},
	} {
		var b bytes.Buffer
		if err := NewPrinter(&b).On(Terminal{Width: test.width}).Line("%s", test.line); err != nil || b.String() != test.want+"\n" {
			t.Errorf("in %d cells: %q (%v), want %q", test.width, b.String(), err, test.want)
		}
	}
}
