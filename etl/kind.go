package etl

import (
	"cmp"
	"fmt"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A key identifies a kind of event: for an EVENT_HEADER, the 32 bytes from the provider
// to the keywords.
type key struct {
	form form
	w    [4]uint64
}

// keyOf returns the key of an event.
func (f *format) keyOf(e []byte) (k key) {
	k.form = f.form
	switch f.form {
	case formEvent:
		b := e[0x18:0x38]
		k.w = [4]uint64{le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])}
	case formClassic: // GUID; opcode, level and version
		b := e[0x18:0x28]
		k.w = [4]uint64{le.Uint64(b), le.Uint64(b[8:]), uint64(le.Uint32(e[4:]))}
	case formSystem, formPerfInfo: // hook id; version
		k.w[0] = uint64(le.Uint16(e[6:]))
		k.w[1] = uint64(e[0])
	}
	return k
}

// A role is the use that a reader itself makes of a kind's events.
type role uint8

const (
	roleNone          role = iota
	roleProcess            // of the kernel: names a process
	roleKernelProcess      // of Microsoft-Windows-Kernel-Process: likewise
	roleThread             // of either: the process of a thread
	roleLost               // reports a loss of a real-time session
	roleRuntime            // may have a stack that follows as an event of its own
	roleStackWalk          // is such a stack
)

// A place is where a kind of event has its thread.
type place uint8

const (
	inHeader     place = iota
	first              // in the payload
	afterPointer       // in the payload, as the second field
)

// A kind holds the common properties of the events of one key.
type kind struct {
	key   key
	desc  trace.Descriptor
	role  role
	tid   place
	want  bool
	index uint16
	count uint64
}

const (
	// maxKinds bounds the kinds of events that a trace may have. Real ones have a
	// few hundred.
	maxKinds = 1 << 15
	// kindCache is a power of two.
	kindCache = 1 << kindCacheBits

	kindCacheBits = 9
)

// A kindTable finds kinds by key.
type kindTable struct {
	cache [kindCache]*kind
	byKey map[key]*kind
	all   []*kind // by index, in the order of their first event
	want  func(*trace.Descriptor) bool

	dropped uint64 // events of kinds beyond maxKinds
}

// get finds the kind with a key, a new one if there is none; nil if there are
// too many.
func (t *kindTable) get(k *key) *kind {
	// The multipliers spread ids, opcodes and hook ids over the upper bits, because these
	// choose the slot.
	h := k.w[0] ^ k.w[2]*0x9e3779b97f4a7c15 ^ k.w[1]*0xbf58476d1ce4e5b9 ^ k.w[3]*0x94d049bb133111eb
	slot := &t.cache[h*0x9e3779b97f4a7c15>>(64-kindCacheBits)]
	if c := *slot; c != nil && c.key == *k {
		return c
	}
	found := t.byKey[*k]
	if found == nil {
		if found = t.add(k); found == nil {
			t.dropped++
			return nil
		}
	}
	*slot = found
	return found
}

func (t *kindTable) add(k *key) *kind {
	if len(t.all) == maxKinds {
		return nil
	}
	n := &kind{key: *k, index: uint16(len(t.all))}
	n.describe()
	n.want = t.want == nil || t.want(&n.desc)
	if t.byKey == nil {
		t.byKey = make(map[key]*kind)
	}
	t.byKey[*k] = n
	t.all = append(t.all, n)
	return n
}

// describe makes a descriptor from the key. Kernel events and classic ones have their
// opcode as id, because they have no other.
func (n *kind) describe() {
	d, w := &n.desc, n.key.w
	switch n.key.form {
	case formEvent:
		runtime := n.nameProvider()
		d.ID = uint32(w[2] & 0xffff)
		d.Version = uint32(w[2] >> 16 & 0xff)
		d.Level = uint8(w[2] >> 32)
		d.Opcode = uint8(w[2] >> 40)
		d.Keywords = w[3]
		n.role = roleOf(d, runtime)
	case formClassic:
		n.nameProvider()
		d.Opcode = uint8(w[2])
		d.ID = uint32(d.Opcode)
		d.Version = uint32(w[2] >> 16 & 0xffff)
		if lossReport(d) {
			n.role = roleLost
		}
		if c, ok := classics[n.guid()][d.Opcode]; ok {
			d.Provider, d.ID, d.Level, d.Keywords = c.provider, c.id, c.level, c.keywords
			n.role = roleRuntime
		}
	default:
		n.describeHook(uint16(w[0]))
	}
}

func (n *kind) describeHook(hook uint16) {
	d := &n.desc
	group := uint8(hook >> 8)
	d.Opcode = uint8(hook)
	d.ID = uint32(d.Opcode)
	d.Version = uint32(n.key.w[1])
	switch {
	case hook == hookImageLoad:
		d.Provider = groups[0x14]
	case groups[group] != "":
		d.Provider = groups[group]
		switch {
		case group == groupProcess:
			n.role = roleProcess
		case group == groupThread && threadStart <= d.Opcode && d.Opcode <= threadDCEnd:
			n.role = roleThread
		case group == groupThread && d.Opcode == contextSwitch:
			n.tid = first
		case group == groupPerfInfo && d.Opcode == cpuSample:
			n.tid = afterPointer
		}
	default:
		d.Provider = fmt.Sprintf("kernel group %#02x", group)
	}
}

// nameProvider names the provider of a kind, by its GUID if no table has it. It reports
// whether it is the runtime's, because a ClrStackWalk may follow such events.
func (n *kind) nameProvider() (runtime bool) {
	g := n.guid()
	name, runtime := runtimeProviders[g]
	n.desc.Provider = cmp.Or(name, otherProviders[g], g)
	return runtime
}

func (n *kind) guid() string {
	var g [16]byte
	le.PutUint64(g[:], n.key.w[0])
	le.PutUint64(g[8:], n.key.w[1])
	return string(binread.AppendGUID(nil, g))
}

// clrStackWalk is the id of the event that carries a stack.
const clrStackWalk = 82

func roleOf(d *trace.Descriptor, runtime bool) role {
	switch {
	case d.Provider == runtimeProvider && d.ID == clrStackWalk:
		return roleStackWalk
	case runtime:
		return roleRuntime
	case lossReport(d):
		return roleLost
	case d.Provider == kernelProcessProvider:
		return kernelProcessRoles[d.ID]
	}
	return roleNone
}

var kernelProcessRoles = map[uint32]role{
	kernelProcessStart:   roleKernelProcess,
	kernelProcessRundown: roleKernelProcess,
	kernelThreadStart:    roleThread,
	kernelThreadStop:     roleThread,
}
