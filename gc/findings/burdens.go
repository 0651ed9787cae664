package findings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

// A burden is the part of the pauses due to one kind of root. Roots cost time because a
// collection marks from all of them, and updates the references in them when it moves
// objects.
type burden struct {
	spent             stats.Spent
	marking, updating time.Duration // of spent
	bytes             int64         // marked
}

// The kinds of roots that pauses are spent on.
const (
	onStacks = iota
	onHandles
	onDependent
	onOlder
	onFinalizers
	numBurdens
)

// rootsOf lists the kinds of roots of each burden.
var rootsOf = [numBurdens][]clr.RootType{
	onStacks: {clr.RootTypeStack}, onHandles: {clr.RootTypeHandles, clr.RootTypeSizedRef}, onDependent: {clr.RootTypeDependentHandles},
	onOlder: {clr.RootTypeOlder}, onFinalizers: {clr.RootTypeFinalizeQueue, clr.RootTypeNewFQ},
}

// burdenNames names the roots of each burden in sentences.
var burdenNames = [numBurdens]string{
	onStacks: "thread stacks", onHandles: "GC handles", onDependent: "dependent handles", onOlder: "older objects", onFinalizers: "objects with finalizers",
}

// divide adds the parts of a collection's pause.
func (c *Case) divide(col *gc.Collection) {
	d, known := stats.Divide(col)
	if !known {
		return
	}
	pause := col.Pause().Or(0)
	for part, took := range d {
		c.parts[part].Add(took, pause)
	}
	marking := [numBurdens]time.Duration{
		onStacks: d[stats.MarkStacks], onHandles: d[stats.MarkHandles], onDependent: d[stats.MarkDependent],
		onOlder: d[stats.MarkOlder], onFinalizers: d[stats.MarkFinalizers],
	}
	// Weak handles count as handles, because they are cleared in the same scan as
	// dependent handles.
	weak := onHandles
	if marking[onDependent] > marking[onHandles] {
		weak = onDependent
	}
	marking[weak] += d[stats.ScanWeak]
	updating := updates(&d, &marking)
	for i := range c.burdens {
		b := &c.burdens[i]
		b.spent.Add(marking[i]+updating[i], pause)
		b.marking += marking[i]
		b.updating += updating[i]
	}
	for _, r := range stats.Roots(col) {
		for i, roots := range rootsOf {
			if slices.Contains(roots, r.Root) {
				c.burdens[i].bytes += r.Bytes
			}
		}
	}
}

// updates returns how long relocation updated the references in the roots of each burden.
// Relocation that takes longer than moving the survivors is divided in proportion to
// marking, because it visits mostly the same roots. A stack of 20,000 frames, 1,500
// threads, 400,000 dependent handles and an array of 5 million references all took as
// long to relocate as to mark, or longer.
func updates(d *stats.Division, marking *[numBurdens]time.Duration) (updating [numBurdens]time.Duration) {
	var all time.Duration
	for _, t := range marking {
		all += t
	}
	roots := d[stats.Relocating] - d[stats.Compacting]
	if all <= 0 || roots <= 0 {
		return updating
	}
	for i, t := range marking {
		updating[i] = time.Duration(float64(roots) * float64(t) / float64(all))
	}
	return updating
}

// heaviest returns the burden with the largest usual share. It leaves out objects whose
// finalizers do not finish, because they have a finding of their own.
func (j *judgement) heaviest() (i int, share float64) {
	_, stuck := j.unfinishedRun()
	for k := range j.burdens {
		if stuck && k == onFinalizers {
			continue
		}
		if s := j.burdens[k].spent.Usual(); s > share {
			i, share = k, s
		}
	}
	return i, share
}

// slowMarking is the bytes a second below which marking visits roots rather than objects.
// Long stacks were marked at 1 to 2 MB a second, linked lists of objects at 60 to 1,000.
const slowMarking = 20_000_000

// byObjects reports whether the objects that the roots hold, not the roots themselves,
// take the time.
func (b *burden) byObjects() bool {
	return b.marking > 0 && float64(b.bytes)/b.marking.Seconds() >= slowMarking
}

// spentOn names, in a sentence, up to three parts that each take a tenth or more of the pauses.
func (j *judgement) spentOn() string {
	type share struct {
		part stats.Part
		of   float64
	}
	var shares []share
	for part := range stats.InBackground {
		if of := j.parts[part].Share(); of >= someShare {
			shares = append(shares, share{part, of})
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int { return int(b.of*10) - int(a.of*10) })
	var words []string
	for _, s := range shares[:min(3, len(shares))] {
		words = append(words, fmt.Sprintf("%v %s", s.part, units.Percent(s.of)))
	}
	if len(words) == 0 {
		return ""
	}
	return " By phase: " + strings.Join(words, ", ") + "."
}
