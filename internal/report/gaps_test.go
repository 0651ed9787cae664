package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/trace"
)

// TestCollectFromTheFramework: gctrail collect does not reach processes of the
// .NET Framework, so that nobody is told to use it for them.
func TestCollectFromTheFramework(t *testing.T) {
	for runtime, want := range map[string]string{
		".NET 10.0.12":                   "gctrail collect -p 7 --profile gc-alloc",
		".NET Framework 4.0.30319.34209": "logman start gctrail -p {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4} 0x1 0x5",
	} {
		process := &gc.Process{PID: 7, Runtime: runtime, Stopped: time.Second}
		c := Case{Result: findings.Result{Case: new(findings.Case)}}
		c.Add(&gc.Collection{Process: process})
		rep := &Report{info: new(trace.Info), loss: new(trace.Loss), cases: []Case{c}}
		var commands []string
		for _, g := range rep.gaps(&c) {
			commands = append(commands, g.command)
		}
		if words := strings.Join(append(commands, rep.next()...), "\n"); !strings.Contains(words, want) ||
			strings.Contains(words, "gctrail collect") != strings.Contains(want, "gctrail collect") {
			t.Errorf("%s:\n%s", runtime, words)
		}
	}
}
