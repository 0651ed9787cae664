package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
)

// TestCommandsOfAllRules parses the commands of all advice that rules can give.
func TestCommandsOfAllRules(t *testing.T) {
	std := &stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}
	rep, err := newReportOptions().gather(t.Context(), std, []string{"../../testdata/net10-wks-pin-collect.nettrace.gz"})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, rule := range findings.Rules() {
		for _, advice := range rule.Advice {
			for i := range advice.Next {
				step := &advice.Next[i]
				if command := rep.Command(step); command != "" {
					accepted(t, command)
					tried++
				} else if of := step.Action; of == findings.Record || of == findings.ListCollections || of == findings.Report {
					t.Errorf("%s: no command to %s", rule.ID, step.Purpose)
				}
			}
		}
	}
	if tried < 15 {
		t.Errorf("only %d commands", tried)
	}
}

// TestHeadingsAreExplained checks the headings of gcs.
func TestHeadingsAreExplained(t *testing.T) {
	for _, c := range figure.InList() {
		for _, word := range []string{c.Key, c.Heading} {
			if out, talk, code := on(t, 0, "report", "--explain", word); code != exitDone || out == "" {
				t.Errorf("%s: exit %d: %s", word, code, talk)
			}
		}
	}
}

// TestFirstCommand checks a report's first proposal: another recording if lost events
// leave no verdict; and that its gcs commands select one process.
func TestFirstCommand(t *testing.T) {
	out, _, _ := on(t, 0, "report", "../../testdata/net10-lossy-handles.nettrace.gz")
	if _, next, _ := strings.Cut(out, "\nNext\n"); !strings.HasPrefix(next, "  $ gctrail collect -p PID --profile gc-collect --buffersize 1024\n") {
		t.Errorf("next is %.200q", next)
	}
	out, _, _ = on(t, 0, "gcs", "../../testdata/net31-net9-lttng.trace.zip")
	if heading, _, _ := strings.Cut(out, "\n"); !strings.HasPrefix(strings.TrimSpace(heading), "pid ") {
		t.Errorf("the heading is %q", heading)
	}
}
