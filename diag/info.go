package diag

import (
	"context"
	"encoding/hex"
	"fmt"
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
		info.layout(cmd, wire{in: a})
		if a.bad {
			return nil, fmt.Errorf("%v: %w: it is too short", cmd, ErrProtocol)
		}
		info.RuntimeVersion, _, _ = strings.Cut(info.RuntimeVersion, "+")
		return &info, nil
	}
	panic("unreachable")
}

// layout lays out the answer to one of the ProcessInfo commands, in the order of
// ds-process-protocol.c.
func (i *Info) layout(cmd command, w wire) {
	version := uint32(1) // of the answer
	if cmd == cmdProcessInfo3 {
		w.u32(&version)
	}
	w.u64(&i.PID)
	w.bytes(i.Cookie[:])
	w.str("command line", &i.CommandLine)
	w.str("system", &i.OS)
	w.str("architecture", &i.Arch)
	if cmd != cmdProcessInfo {
		w.str("entry assembly", &i.EntryAssembly)
		w.str("runtime version", &i.RuntimeVersion)
	}
	if cmd == cmdProcessInfo3 && version >= 1 {
		w.str("runtime identifier", &i.RID)
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
