package collect

import (
	"cmp"

	"github.com/gctrail/gctrail/diag"
)

// Described returns the properties of a process that its runtime would write at the end
// of a trace.
func Described(p *diag.Process) *Description {
	d := &Description{CommandLine: p.Name, Server: p.GC.Server.Bool(), Concurrent: p.GC.Concurrent.Bool()}
	if i := p.Info; i != nil {
		d.CommandLine, d.OS, d.Arch = cmp.Or(i.CommandLine, p.Name), i.OS, i.Arch
		d.Runtime = i.RuntimeVersion
	}
	return d
}
