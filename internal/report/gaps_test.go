package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/trace"
)

// TestCollectFromTheFramework: processes of .NET Framework are recorded through ETW.
func TestCollectFromTheFramework(t *testing.T) {
	for runtime, want := range map[string]string{
		".NET 10.0.12":                   "gctrail collect -p PID --profile gc-alloc",
		".NET Framework 4.0.30319.34209": "gctrail collect --etw -p PID --profile gc-alloc",
	} {
		process := &gc.Process{PID: 7, Runtime: runtime, Stopped: time.Second}
		var found findings.Set
		found.Add(&gc.Collection{Process: process})
		c := Case{Result: found.Judge(findings.Trace{})[0]}
		rep := &Report{info: new(trace.Info), loss: new(trace.Loss), cases: []Case{c}}
		var commands []string
		for _, g := range rep.gaps(&c) {
			commands = append(commands, g.command)
		}
		if words := strings.Join(append(commands, rep.next()...), "\n"); !strings.Contains(words, want) ||
			strings.Contains(words, "--etw") != strings.Contains(want, "--etw") {
			t.Errorf("%s:\n%s", runtime, words)
		}
	}
}
