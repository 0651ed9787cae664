package profiler

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// maxUnloaded bounds the events of unloaded methods that are kept of an interval, in bytes:
// some five thousand methods.
const maxUnloaded = 1 << 20

// An unloaded has the dynamic methods that a process unloaded during an interval. A method's event
// comes when its code goes, and names it, so that stacks that were sampled before have names. Of
// the methods of collectible assemblies, .NET 10 raises none.
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
