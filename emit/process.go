package emit

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A Process describes the process that raised the events; it is written at the
// end of a trace. Zero fields default to this process.
type Process struct {
	PID         int // 0 means this process; always known
	CommandLine string
	OS          string // as .NET names it: "Linux", "Windows", "macOS"
	Arch        string // likewise: "x64", "arm64"

	// Runtime is the version of .NET that readers see; the events cannot hold
	// the name of another runtime. Zero means 10.0.0.
	Runtime [3]uint16
	// Flags state how the runtime was started: with server or workstation GC,
	// and with or without background GC.
	Flags clr.StartupFlags
	// Settings are the settings of the collector, nil for none.
	Settings *clr.GCSettingsRundown
}

var (
	osNames   = map[string]string{"linux": "Linux", "windows": "Windows", "darwin": "macOS"}
	archNames = map[string]string{"amd64": "x64", "386": "x86"}
)

func (pr Process) withDefaults() Process {
	pr.PID = cmp.Or(pr.PID, os.Getpid())
	pr.CommandLine = cmp.Or(pr.CommandLine, commandLine(os.Args))
	pr.OS = cmp.Or(pr.OS, osNames[runtime.GOOS], runtime.GOOS)
	pr.Arch = cmp.Or(pr.Arch, archNames[runtime.GOARCH], runtime.GOARCH)
	pr.Runtime = cmp.Or(pr.Runtime, [3]uint16{10})
	return pr
}

// commandLine joins arguments; the program's name is quoted if necessary.
func commandLine(args []string) string {
	line := strings.Join(args, " ")
	if len(args) > 0 && strings.Contains(args[0], " ") {
		line = `"` + args[0] + `"` + strings.TrimPrefix(line, args[0])
	}
	return line
}

// rundown writes the events that the runtime raises at the end of a session: the process,
// its runtime and its settings.
func (s *Session) rundown() error {
	pr := &s.p.process
	events := []clr.Event{&clr.ProcessInfo{
		CommandLine: clr.NewUTF16(pr.CommandLine), OSInformation: clr.NewUTF16(pr.OS), ArchInformation: clr.NewUTF16(pr.Arch),
	}}
	if !s.brief {
		info := pr.runtimeInformation()
		events = append(events, &info)
	}
	if pr.Settings != nil && !s.brief {
		events = append(events, pr.Settings)
	}
	capture := s.p.shards[0].capture
	for _, e := range events {
		d := &s.p.kinds[e.EventKind()]
		if !s.sink.carries(d) {
			continue
		}
		err := s.writeEvent(capture, &trace.Event{
			Desc: d, Ticks: s.p.clock.now() - s.start, TID: capture, CPU: trace.UnknownCPU, Payload: e.Append(nil, d.Version, pointerSize),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runtimeInformation describes the runtime.
func (pr *Process) runtimeInformation() clr.RuntimeInformationDCStart {
	return clr.RuntimeInformationDCStart{
		Sku: clr.RuntimeSkuCoreClr, StartupFlags: pr.Flags, CommandLine: clr.NewUTF16(pr.CommandLine),
		BclMajorVersion: pr.Runtime[0], BclMinorVersion: pr.Runtime[1], BclBuildNumber: pr.Runtime[2],
		VMMajorVersion: pr.Runtime[0], VMMinorVersion: pr.Runtime[1], VMBuildNumber: pr.Runtime[2],
	}
}
