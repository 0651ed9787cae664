package profiler

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

const (
	// maxAddresses bounds the addresses of a process that are named, so that no program makes the
	// agent grow.
	maxAddresses = 1 << 15
	// forgotten is for how many lists an address is named that is seen no more. Without it, code
	// that the JIT compiles again and again would fill the table.
	forgotten = 4
	// listTime bounds how long a runtime may take to list its methods.
	listTime = time.Minute
)

// Names has the names of the methods at addresses that were seen in the stacks of a process.
type names struct {
	table *symbol.Table
	ages  map[uint64]int // lists since an address was last seen; -1 if none has come yet
}

func newNames() *names {
	return &names{table: new(symbol.Table), ages: make(map[uint64]int)}
}

// note adds addresses, and returns how many no list has had a chance to name.
func (n *names) note(addresses func(func(uint64) bool)) (unknown int) {
	for a := range addresses {
		age, known := n.ages[a]
		switch {
		case known && age >= 0:
			n.ages[a] = 0
		case known:
			unknown++
		case len(n.ages) < maxAddresses:
			n.ages[a] = -1
			unknown++
		}
	}
	return unknown
}

// list asks the runtime for its methods, and keeps the ones of the addresses, because the
// whole list has tens of thousands.
func (n *names) list(ctx context.Context, client *diag.Client) error {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	session, err := client.Collect(ctx, diag.Config{
		BufferMB: 16, Rundown: diag.RundownMethods, NoStacks: true,
		Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelCritical}},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	stopped := make(chan error, 1)
	go func() { stopped <- session.Stop(ctx) }()
	table := new(symbol.Table)
	err = n.read(session, table)
	if err := <-stopped; err != nil {
		return err
	}
	if err != nil {
		return err
	}
	n.listed(table)
	return nil
}

// listed replaces the names by those of a new list.
func (n *names) listed(table *symbol.Table) {
	n.table = table
	maps.DeleteFunc(n.ages, func(a uint64, age int) bool {
		n.ages[a] = age + 1
		return age+1 >= forgotten
	})
}

func (n *names) read(session *diag.Session, table *symbol.Table) error {
	wanted := slices.Sorted(maps.Keys(n.ages))
	r := nettrace.NewReader(session, nettrace.Options{Want: symbol.Wants, Idle: idle})
	var listed clr.MethodLoadVerbose
	for ev, err := range r.Events() {
		if err != nil {
			return err
		}
		if isMethod(ev) && !hasOneOf(&listed, ev, wanted) {
			continue
		}
		table.Feed(ev)
	}
	return nil
}

func isMethod(ev *trace.Event) bool {
	switch clr.KindOf(ev.Desc.Provider, ev.Desc.ID) {
	case clr.KindMethodLoadVerbose, clr.KindMethodUnloadVerbose, clr.KindMethodDCStartVerbose, clr.KindMethodDCEndVerbose:
		return true
	}
	return false
}

// hasOneOf reports whether a method is at one of some addresses. The payloads of all events of
// methods are laid out alike.
func hasOneOf(v *clr.MethodLoadVerbose, ev *trace.Event, sorted []uint64) bool {
	if v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil {
		return false
	}
	i, _ := slices.BinarySearch(sorted, v.MethodStartAddress)
	return i < len(sorted) && sorted[i]-v.MethodStartAddress < uint64(v.MethodSize)
}
