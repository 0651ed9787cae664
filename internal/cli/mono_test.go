package cli

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestMono: a trace of Mono has the collections that its profiler raises, and without them it is
// not taken for one of a program that did not collect. The events are laid out, and come in the
// order, that the runtime's sources say.
func TestMono(t *testing.T) {
	information := clr.RuntimeInformationStart{Sku: clr.RuntimeSkuMono, BclMajorVersion: 9, BclBuildNumber: 4, CommandLine: clr.NewUTF16("/data/app/shop")}
	runtime := `
metadata
  def id=1 provider=Microsoft-Windows-DotNETRuntimeRundown event=187 level=4
events
  event meta=1 thread=5 time=+20000000000 payload=hex:` + hex.EncodeToString(information.Append(nil, 0, 8)) + "\n"
	handles := `
metadata
  def id=3 provider=Microsoft-DotNETRuntimeMonoProfiler event=43 keywords=8 level=4
events
  event meta=3 thread=5 time=+1000 payload=u32:1,u8:1
`
	profiler := `
metadata
  def id=2 provider=Microsoft-DotNETRuntimeMonoProfiler event=38 keywords=1 level=4
events
  event meta=2 thread=5 time=+1000 payload=u8:10,u32:1
  event meta=2 thread=5 time=+4001000 payload=u8:7,u32:1
  event meta=2 thread=5 time=+4002000 payload=u8:0,u32:1
  event meta=2 thread=5 time=+4003000 payload=u8:5,u32:1
  event meta=2 thread=5 time=+4004000 payload=u8:8,u32:1
  event meta=2 thread=5 time=+4005000 payload=u8:9,u32:1
`
	const record, list = "$ gctrail collect -p PID --providers Microsoft-DotNETRuntimeMonoProfiler:0x1:4", "$ gctrail events --provider Microsoft-DotNETRuntimeMonoProfiler "
	for name, test := range map[string]struct{ body, report, next, events string }{
		"without its profiler": {runtime, "raises no GC events of the .NET runtime provider", record, "RuntimeInformationDCStart"},
		"with its handles":     {handles, "the keyword gc (0x1) of its profiler was not enabled", list, `"MonoProfilerGCHandleDeleted"`},
		"with its profiler":    {profiler, "1 gen1 blocking", "$ gctrail gcs --min-pause 4", `"MonoProfilerGCEvent"`},
		"with both":            {profiler + runtime, "Mono (.NET 9.0.4)", "$ gctrail gcs --min-pause 4", `"GCEventType":"PostStartWorld"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mono.nettrace")
			if err := os.WriteFile(path, tracetest.MustNettrace(t, "nettrace v4\n"+test.body+"end\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for command, want := range map[string]string{"report": test.report, "events": test.events} {
				code, out, said := gctrail(context.Background(), command, path)
				out = strings.Join(strings.Fields(out), " ")
				if code != exitDone || !strings.Contains(out, want) || strings.Contains(out, "No GC happened") || strings.Contains(out, ".NET Framework") {
					t.Errorf("%s: exit code %d: %s\n%s", command, code, said, out)
				}
				if command == "report" && (!strings.Contains(out, test.next) || strings.Contains(out, "gc-collect")) {
					t.Errorf("the next command is not %q: %s", test.next, out)
				}
			}
		})
	}
}
