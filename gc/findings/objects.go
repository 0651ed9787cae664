package findings

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/units"
)

// OpenHandles are the GC handles of one kind that were created in the trace.
type OpenHandles struct {
	Kind    clr.HandleKind `json:"kind"` // by name
	Created int64          `json:"created"`
	Open    int64          `json:"open"`         // were not destroyed in the trace
	Growth  float64        `json:"growth_per_s"` // handles a second by which Open grew steadily, else 0
	// From is the method that created most of Open, unknown if the trace has no stacks with
	// names. FromOpen counts the method's.
	From     gc.Opt[string] `json:"from"`
	FromOpen gc.Opt[int64]  `json:"from_open"`
}

// A PinnedType sums up the pinned objects of one type.
type PinnedType struct {
	Name        gc.Opt[string] `json:"type"`
	Pins        int64          `json:"pins"` // objects, each collection on its own
	Bytes       int64          `json:"bytes"`
	Share       float64        `json:"share_pct"` // of all pins
	Collections int64          `json:"collections"`
	Longest     int64          `json:"longest_run"` // the most collections in a row that an object was pinned in
	ByHandle    gc.Opt[int64]  `json:"by_handle"`   // of Pins: by GC handles created in the trace
	Gap         gc.Opt[int64]  `json:"gap_bytes"`   // free, before pinned objects
}

// A FinalizedType counts the finalized objects of one type.
type FinalizedType struct {
	Name  gc.Opt[string] `json:"type"`
	Count int64          `json:"finalized"`
	Share float64        `json:"share_pct"` // of all finalized objects
}

// NamesFinalized reports whether the type of a finalized object is known.
func (d *Details) NamesFinalized() bool {
	return slices.ContainsFunc(d.Finalized, func(t FinalizedType) bool { return t.Name.Known() })
}

// quoteHandles adds the kind with the most handles left open to f.
func (f *Finding) quoteHandles(d *Details) {
	if len(d.Handles) == 0 || d.Handles[0].Open == 0 {
		return
	}
	f.Handles = d.Handles
	var open int64
	for i := range d.Handles {
		open += d.Handles[i].Open
	}
	h := &d.Handles[0]
	f.Description += fmt.Sprintf(" %s of the %s left open in the trace are %s", units.Count(h.Open), plural(int(open), "handle"), h.Kind)
	if from, known := h.From.Get(); known {
		f.Description += ", created by " + program.Inert(from)
		if share := of(h.FromOpen.Or(0), h.Open); share < 99.5 {
			f.Description += fmt.Sprintf(" (%s of them)", units.Percent(share))
		}
	}
	f.Description += "."
}

// quotePins adds the type with the most pinned bytes to f.
func (f *Finding) quotePins(d *Details) {
	if len(d.Pins) == 0 {
		return
	}
	f.Pins = d.Pins
	t := &d.Pins[0]
	f.Description += fmt.Sprintf(" %s: %s of the pins (%s)", named(t.Name.Or("")), units.Percent(t.Share), units.Bytes(t.Bytes))
	if n, ok := t.ByHandle.Get(); ok && n > 0 {
		f.Description += fmt.Sprintf(", %s of them by GC handles", units.Percent(of(n, t.Pins)))
		if d.PinnedFrom != "" {
			f.Description += ", most of which " + program.Inert(d.PinnedFrom) + " creates"
		}
	}
	f.Description += "."
}

// quoteFinalized adds the type that was finalized most to f.
func (f *Finding) quoteFinalized(d *Details) {
	if len(d.Finalized) == 0 || !d.Finalized[0].Name.Known() {
		return
	}
	f.Finalized = d.Finalized
	t := &d.Finalized[0]
	f.Description += fmt.Sprintf(" %s: %s of the finalized objects.", program.Inert(t.Name.Or("")), units.Percent(t.Share))
}

func named(typ string) string {
	if typ == "" {
		return "Objects of unknown type"
	}
	return program.Inert(typ)
}
