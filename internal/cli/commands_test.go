package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
)

// TestSuggestedCommands parses every command of gctrail that the report of a trace
// suggests with the commands' own parser, and runs those that read the trace: each
// has something to show.
func TestSuggestedCommands(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/*.gz")
	zips, _ := filepath.Glob("../../testdata/*.zip")
	if err != nil || len(paths)+len(zips) == 0 {
		t.Fatal("no traces", err)
	}
	tried := make(map[string]int)
	for _, path := range append(paths, zips...) {
		for _, command := range suggested(t, path) {
			args := strings.Fields(strings.NewReplacer("'", "", " PID ", " 1 ").Replace(command))
			if args[0] != "gctrail" {
				continue
			}
			tried[args[1]]++
			parses(t, command, args[1:])
			if reads := args[1] == "gcs" || args[1] == "events" || args[1] == "report"; !reads || testing.Short() && args[1] == "events" {
				continue
			}
			if args[1] == "events" {
				args = append(args, "--limit", "1")
			}
			out, talk, code := on(t, 0, args[1:]...)
			if code != exitDone || strings.Count(out, "\n") == 0 || args[1] == "gcs" && strings.Count(out, "\n") < 2 {
				t.Errorf("%s: exit %d, %q: %s", command, code, out, talk)
			}
		}
	}
	for _, name := range []string{"gcs", "report", "collect"} {
		if tried[name] == 0 {
			t.Errorf("no report suggests gctrail %s", name)
		}
	}
}

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
				if command := rep.Command(&advice.Next[i]); command != "" {
					parses(t, command, strings.Fields(command)[1:])
					tried++
				} else if len(advice.Next[i].Events) == 0 {
					t.Errorf("%s: no command to %s", rule.ID, advice.Next[i].Purpose)
				}
			}
		}
	}
	if tried < 15 {
		t.Errorf("only %d commands", tried)
	}
}

// suggested returns the commands in the JSON of a report.
func suggested(t *testing.T, path string) []string {
	t.Helper()
	out, talk, code := on(t, 0, "report", "--format", "json", path)
	if code != exitDone {
		t.Fatalf("%s: exit %d: %s", path, code, talk)
	}
	var rep struct {
		Processes []struct {
			Findings []struct{ Next []struct{ Command string } }
		}
		CannotTell []struct{ Command *string } `json:"cannot_tell"`
		Next       []string
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatal(err)
	}
	commands := rep.Next
	for _, p := range rep.Processes {
		for _, f := range p.Findings {
			for _, s := range f.Next {
				commands = append(commands, s.Command)
			}
		}
	}
	for _, g := range rep.CannotTell {
		if g.Command != nil {
			commands = append(commands, *g.Command)
		}
	}
	return commands
}

// parses parses a command without running it.
func parses(t *testing.T, command string, args []string) {
	t.Helper()
	cmd, rest, err := newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: %v", command, err)
	}
}

// TestHeadingsAreExplained checks the headings of gcs.
func TestHeadingsAreExplained(t *testing.T) {
	for _, c := range defaultColumns {
		for _, word := range []string{c.name, heading(c.name)} {
			if out, talk, code := on(t, 0, "report", "--explain", word); code != exitDone || out == "" {
				t.Errorf("%s: exit %d: %s", word, code, talk)
			}
		}
	}
}

// TestFirstCommand checks what a report proposes first: where lost events leave no
// verdict, another recording; and that gcs tells processes apart.
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
