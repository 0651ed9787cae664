// Package handle tracks the reasons for objects to stay in place, or alive: GC handles,
// pins during collections, and finalization.
//
// Handles, Pins and Finalizers each take a trace's events. Events of handles need the
// keyword GCHandle; events of pins and finalized objects need the keyword GC at level 5.
package handle

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// maxProcesses bounds the processes that each model distinguishes, as gc does. Further
// ones are summed up as an unknown process.
const maxProcesses = 1024

// kinds remembers the kinds of the events of a trace.
type kinds struct {
	byDesc map[*trace.Descriptor]clr.Kind
	desc   *trace.Descriptor // of the last event
	kind   clr.Kind          // and its kind
}

func (k *kinds) of(d *trace.Descriptor) clr.Kind {
	if d == k.desc {
		return k.kind
	}
	kind, known := k.byDesc[d]
	if !known {
		if k.byDesc == nil {
			k.byDesc = make(map[*trace.Descriptor]clr.Kind)
		}
		kind = clr.KindOf(d.Provider, d.ID)
		k.byDesc[d] = kind
	}
	k.desc, k.kind = d, kind
	return kind
}

// Wants reports whether a model of this package reads events of a kind.
func Wants(d *trace.Descriptor) bool {
	return (*Handles)(nil).Wants(d) || (*Pins)(nil).Wants(d) || (*Finalizers)(nil).Wants(d)
}
