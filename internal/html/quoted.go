package html

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// Quoted holds the collections that the findings of a process quote, by rule, as the
// page reads them: how many numbers are skipped, then how many follow one another,
// again and again.
type Quoted map[string][]uint32

// NewQuoted returns the collections that findings quote.
func NewQuoted(found []findings.Finding) Quoted {
	q := make(Quoted)
	for i := range found {
		if f := &found[i]; len(f.All) > 0 {
			q[f.ID] = runs(f.All)
		}
	}
	return q
}

// runs returns numbers as gaps and lengths. Numbers wrap around if they do not grow, as
// with several runtimes in a process.
func runs(numbers []uint32) []uint32 {
	var all []uint32
	next := uint32(0)
	for i, n := range numbers {
		if i > 0 && n == next {
			all[len(all)-1]++
		} else {
			all = append(all, n-next, 1)
		}
		next = n + 1
	}
	return all
}

// Quote adds the collections that the findings of a process quote.
func (t *Trace) Quote(of *gc.Process, found []findings.Finding) {
	if t.quoted == nil {
		t.quoted = make(map[*gc.Process]Quoted)
	}
	t.quoted[of] = NewQuoted(found)
}

// quotes returns the collections that the findings of a process quote.
func (t *Trace) quotes(of *process) any { return t.quoted[of.Process] }
