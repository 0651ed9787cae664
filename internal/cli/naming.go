package cli

import (
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// A naming names types and code that events refer to by number. The zero naming names
// nothing.
type naming struct {
	table  symbol.Table
	stacks *symbol.Stacks // nil unless they are wanted
	types  *symbol.Types  // likewise
}

// wantTypes makes n name types.
func (n *naming) wantTypes() *symbol.Types {
	n.types = new(symbol.Types)
	return n.types
}

// wantStacks makes n keep stacks. The perf map, if given, names their methods too.
func (n *naming) wantStacks(perfMap *perfMapFlag) (*symbol.Stacks, error) {
	n.stacks = symbol.NewStacks(&n.table)
	return n.stacks, perfMap.read(&n.table)
}

// wants reports whether events of a kind name something.
func (n *naming) wants(d *trace.Descriptor) bool {
	return n.types != nil && symbol.WantsTypes(d) || n.stacks != nil && symbol.Wants(d)
}

func (n *naming) feed(ev *trace.Event) {
	if n.stacks != nil {
		n.table.Feed(ev)
	}
	if n.types != nil {
		n.types.Feed(ev)
	}
}

// writeUnresolved writes how many stacks and names are missing; add counts the samples
// of all stacks, and record is the command for a trace that has more.
func (n *naming) writeUnresolved(p *text.Page, things, record string, add func(*symbol.Tally)) {
	if n.stacks == nil {
		return
	}
	var tally symbol.Tally
	add(&tally)
	writeUnresolved(p, &tally, things, n.table.Dropped(), record)
}
