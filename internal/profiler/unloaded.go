package profiler

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// maxUnloaded bounds the events of unloaded methods that are kept of an interval, in bytes:
// some five thousand methods.
const maxUnloaded = 1 << 20

const (
	// assemblyUnload is the id of AssemblyUnload, which is laid out like AssemblyLoad.
	assemblyUnload = 155
	// isCollectible is a flag of AssemblyUnload. Assemblies without it are unloaded when the
	// program ends.
	isCollectible = 0x8
)

func isAssemblyUnload(d *trace.Descriptor) bool {
	return d.Provider == clr.RuntimeProvider && d.ID == assemblyUnload
}

// isCollected reports whether a collectible assembly is unloaded.
func isCollected(ev *trace.Event) bool {
	if !isAssemblyUnload(ev.Desc) {
		return false
	}
	var of clr.AssemblyLoad
	return of.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) == nil && of.AssemblyFlags&isCollectible != 0
}

// An unloaded has the methods that a process unloaded during an interval: dynamic ones, and, from
// the second unloaded assembly on, those of collectible assemblies. A method's event comes when its
// code goes, and names it, so that stacks that were sampled before have names.
type unloaded struct {
	table *symbol.Table
	bytes int
}

// feed takes the method of an event of an unloaded one, if there is room.
func (u *unloaded) feed(ev *trace.Event) {
	if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) != clr.KindMethodUnloadVerbose || u.bytes+len(ev.Payload) > maxUnloaded {
		return
	}
	u.bytes += len(ev.Payload)
	u.table.Feed(ev)
}

// has reports whether one of the methods was at an address.
func (u *unloaded) has(pid, address uint64) bool {
	return u.bytes > 0 && u.table.Resolve(pid, address, 0).Resolved()
}
