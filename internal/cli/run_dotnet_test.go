package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// TestRun runs a program twice, makes a budget of it, and holds another mode of
// the program against that.
func TestRun(t *testing.T) {
	t.Parallel()
	program := dotnettest.Install(t, 10)
	dir := t.TempDir()
	gctrail := func(args ...string) (string, error) {
		var out, talk bytes.Buffer
		cmd := newRootCmd(&stdio{out: &out, err: text.NewPrinter(&talk)})
		cmd.SetArgs(args)
		err := cmd.ExecuteContext(context.Background())
		return out.String() + talk.String(), err
	}
	before, budget := filepath.Join(dir, "before"), filepath.Join(dir, "budget.yaml")
	if out, err := gctrail("run", "--repeat", "2", "-o", before, "--", program, "idle", "1"); err != nil {
		t.Fatal(err, out)
	}
	traces, err := os.ReadDir(before)
	if err != nil || len(traces) != 2 || traces[0].Name() != "run-1.nettrace" || traces[1].Name() != "run-2.nettrace" {
		t.Fatalf("%v (%v)", traces, err)
	}
	if err := os.WriteFile(budget, []byte("version: 1\nlimits: {gen2_collections: 5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := gctrail("run", "--check", budget, "-o", before, "--", program, "idle", "1"); err != nil || !strings.Contains(out, "Within the budget") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(before, "run-3.nettrace")); err != nil {
		t.Error("a further run does not go on counting: ", err)
	}
	out, err := gctrail("run", "--check", budget, "-o", filepath.Join(dir, "after"), "--", program, "loh", "2")
	if !errors.Is(err, errOverBudget) || exitCodeOf(err) != exitOverBudget || !strings.Contains(out, "OVER          gen 2 collections") {
		t.Errorf("%v: %s", err, out)
	}
	_, err = gctrail("run", "--check", budget, "-o", filepath.Join(dir, "failed"), "--", "sh", "-c", "exit 7")
	if child, ok := errors.AsType[*collect.ChildError](err); !ok || child.Code != 7 {
		t.Errorf("a command that fails: %v", err)
	}
}
