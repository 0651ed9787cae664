package cli

import (
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/symbol"
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

// models returns the models that find the names.
func (n *naming) models() []pass.Model {
	var models []pass.Model
	if n.stacks != nil {
		models = append(models, pass.Raw(symbol.Wants, n.table.Feed))
	}
	if n.types != nil {
		models = append(models, pass.Raw(symbol.WantsTypes, n.types.Feed))
	}
	return models
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
