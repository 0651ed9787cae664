package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/text"
)

// TestCompletions runs the query of all shells' scripts: gctrail __complete.
func TestCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, code := on(t, 0, "completion", shell); code != exitDone || !strings.Contains(out, "__complete") {
			t.Errorf("%s: exit %d: %.80s", shell, code, out)
		}
	}
	for _, tt := range []struct {
		args  []string
		offer string // one of the lines
	}{
		{[]string{"gcs", "--columns", ""}, "pause"},
		{[]string{"gcs", "--columns", "number,pa"}, "number,pause"},
		{[]string{"gcs", "--columns", "number,"}, "number,gen2_after_bytes"},
		{[]string{"gcs", "--reason", "Ind"}, "Induced"},
		{[]string{"collect", "--until", ""}, "pause>\thow long threads were paused, as in 200ms"},
		{[]string{"collect", "--until", "gen=2 and pa"}, "gen=2 and pause>\thow long threads were paused, as in 200ms"},
		{[]string{"collect", "--profile", "gc-"}, "gc-collect"},
		{[]string{"top", "--sort", ""}, "paused"},
		{[]string{"report", "--explain", "pau"}, "pause"},
		{[]string{"report", "--color", ""}, "never"},
		{[]string{"gcs", webTrace, "--process", ""}, "gcload"},
		{[]string{"gcs", webTrace, "--pid", ""}, "3701\tgcload"},
		{[]string{"report", "missing.nettrace", "--process", ""}, ":4"},
		{[]string{""}, "report\tReport on the garbage collector: verdict, findings, figures"},
	} {
		var out, talk bytes.Buffer
		cmd := newRootCmd(&stdio{out: &out, err: text.NewPrinter(&talk), shell: true})
		cmd.SetArgs(append([]string{"__complete"}, tt.args...))
		err := cmd.ExecuteContext(t.Context())
		if lines := strings.Split(out.String(), "\n"); err != nil || !slices.Contains(lines, tt.offer) {
			t.Errorf("%q: %v: %q is not among %q", tt.args, err, tt.offer, lines)
		}
	}
}

func TestProcessCompletions(t *testing.T) {
	all := []*diag.Process{{PID: 12, Name: "web"}, {PID: 1234, Name: "my api"}, {PID: 5, Name: "web"}, {InnerPID: 7, Name: "inner"}}
	if got, want := processIDs(all), []string{"12\tweb", "1234\tmy_api", "5\tweb"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := processNames(all), []string{"web", "my api", "inner"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := continued("12,", processIDs(all)), []string{"12,1234\tmy_api", "12,5\tweb"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
