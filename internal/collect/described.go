package collect

import (
	"cmp"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/tracefile"
)

// Described returns the properties of a process that its runtime would write at the end
// of a trace.
func Described(p *diag.Process) *tracefile.Process {
	d := &tracefile.Process{CommandLine: p.Name, Server: p.GC.Server.Bool(), Concurrent: p.GC.Concurrent.Bool()}
	if i := p.Info; i != nil {
		d.CommandLine, d.OS, d.Arch = cmp.Or(i.CommandLine, p.Name), i.OS, i.Arch
		d.Runtime = i.RuntimeVersion
	}
	return d
}
