package figure

import (
	"slices"
	"sync"

	"github.com/gctrail/gctrail/gc"
)

// A Definition defines a figure, and others that are parts or forms of it.
type Definition struct {
	Name    string // as report --explain takes it
	Unit    string // "ms", "bytes", "%", or the counted things
	Text    string
	Source  string   // events and, where the rule comes from the runtime, its file
	Differs string   // from PerfView and TraceEvent; empty if it does not
	Keys    []string // in JSON and in columns; in the table only what no figure of it has as its Key
}

// named returns the name of a definition, or else the term of another figure's.
func named(means *Definition, term string) string {
	if means != nil {
		return means.Name
	}
	return term
}

// termed fills in the terms of figures that have a definition.
func termed(all []Figure) []Figure {
	for i := range all {
		all[i].Term = named(all[i].Means, all[i].Term)
	}
	return all
}

// Definitions returns the definitions of the figures, in the order of JSON lines. The first
// key of each is the key of the figure that has it.
func Definitions() []Definition { return slices.Clone(definitions()) }

var definitions = sync.OnceValue(func() []Definition {
	var all []Definition
	keys := make(map[string][]string)
	collect := func(means *Definition, term string, of ...string) {
		if means != nil {
			all = append(all, *means)
			keys[term] = append(of, keys[term]...)
		} else {
			keys[term] = append(keys[term], of...)
		}
	}
	for _, f := range table {
		collect(f.Means, f.Term, f.Key)
		if f.Items == nil {
			continue
		}
		_, ofEach := f.Items.(*items[gc.Generation])
		for _, p := range f.Items.Fields() {
			if ofEach { // columns have it for each generation
				collect(p.Means, p.Term, "GEN_"+p.Key, p.Key)
			} else {
				collect(p.Means, p.Term, p.Key)
			}
		}
	}
	for i := range all {
		var once []string
		for _, key := range slices.Concat(keys[all[i].Name], all[i].Keys) {
			if !slices.Contains(once, key) {
				once = append(once, key)
			}
		}
		all[i].Keys = once
	}
	return all
})
