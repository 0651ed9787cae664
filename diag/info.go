package diag

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/gctrail/gctrail/internal/program"
)

// Info describes a process, as its runtime reports it.
type Info struct {
	PID            uint64 // in the PID namespace of the process; always known
	Cookie         Cookie
	CommandLine    string
	OS             string // "Linux", "Windows", "macOS"
	Arch           string // "x64", "arm64"
	EntryAssembly  string // empty before .NET 6
	RuntimeVersion string // "10.0.12", without the commit; empty before .NET 6
	RID            string // "linux-x64"; empty before .NET 8
}

// A Cookie is a random number that identifies a runtime, because processes in different
// namespaces can have equal PIDs.
type Cookie [16]byte

func (c Cookie) String() string { return hex.EncodeToString(c[:]) }

// Info queries the runtime. Older runtimes report less.
func (c *Client) Info(ctx context.Context) (*Info, error) {
	for _, cmd := range [...]command{cmdProcessInfo3, cmdProcessInfo2, cmdProcessInfo} {
		a, err := c.ask(ctx, newRequest(cmd))
		if tooOld(err) && cmd != cmdProcessInfo {
			continue
		}
		if err != nil {
			return nil, err
		}
		var info Info
		if info.layout(cmd, a); a.err != nil {
			return nil, a.err
		}
		info.RuntimeVersion, _, _ = strings.Cut(info.RuntimeVersion, "+")
		return &info, nil
	}
	panic("unreachable")
}

// layout lays out the answer to one of the ProcessInfo commands, in the order of
// ds-process-protocol.c.
func (i *Info) layout(cmd command, m *message) {
	version := uint32(1) // of the answer
	if cmd == cmdProcessInfo3 {
		m.u32(&version)
	}
	m.u64(&i.PID)
	m.bytes(i.Cookie[:])
	m.str("command line", &i.CommandLine)
	m.str("system", &i.OS)
	m.str("architecture", &i.Arch)
	if cmd != cmdProcessInfo {
		m.str("entry assembly", &i.EntryAssembly)
		m.str("runtime version", &i.RuntimeVersion)
	}
	if cmd == cmdProcessInfo3 && version >= 1 {
		m.str("runtime identifier", &i.RID)
	}
}

// Name returns the name of the program: its file name without folder and .exe,
// or the main assembly of a program that the dotnet host runs.
func (i *Info) Name() string {
	name := program.Name(i.CommandLine)
	if (name == program.Host || name == "") && i.EntryAssembly != "" {
		return program.Base(i.EntryAssembly)
	}
	return name
}
