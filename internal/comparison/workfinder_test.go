package comparison

import (
	"regexp"
	"strings"
	"testing"
)

// The amount of work is the first group of the last match of all streams, wherever the
// writes of the program divide its lines.
func TestWorkFinder(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes []string // to both streams in turn
		want   float64
		wrong  string
	}{
		{name: "one line", writes: []string{"requests: 4000\n"}, want: 4000},
		{name: "without an end", writes: []string{"requests: 4000"}, want: 4000},
		{name: "the last line", writes: []string{"requests: 1\nrequests: 2\n", "", "requests: 3\nother\n"}, want: 3},
		{name: "the last of a line", writes: []string{"requests: 1, requests: 2.5\n"}, want: 2.5},
		{name: "in pieces", writes: []string{"reque", "sts: 9\n", "sts: 40", "", "00\n"}, want: 4000},
		{name: "standard error", writes: []string{"requests: 1\n", "requests: 2\n"}, want: 2},
		{name: "after a long line", writes: []string{strings.Repeat("x", 3*maxWorkLine) + " requests: 7\n"}, want: 7},
		{name: "none", writes: []string{"done\n"}, wrong: "no line of the program's output matches"},
		{name: "no number", writes: []string{"requests: .\n"}, wrong: `a number above 0, not "."`},
		{name: "nothing done", writes: []string{"requests: 0\n"}, wrong: "a number above 0"},
	} {
		finder := &WorkFinder{Pattern: regexp.MustCompile(`requests: ([\d.]+)`)}
		streams := []*WorkStream{finder.Stream(), finder.Stream()}
		for i, text := range test.writes {
			if n, err := streams[i%2].Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: wrote %d bytes: %v", test.name, n, err)
			}
		}
		for _, s := range streams {
			s.End()
		}
		got, err := finder.Amount()
		if got != test.want || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v (%v), want %v", test.name, got, err, test.want)
		}
	}
}
