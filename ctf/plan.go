package ctf

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// An op is the operation of a node.
type op uint8

const (
	opInt    op = iota // an integer or a float of size bits
	opBytes            // size bits as they are, always whole bytes
	opCopy             // count bytes as they are
	opAlign            // skip bits
	opVarInt           // LEB128
	opString           // units of size bits up to a zero unit
	opText             // as many bytes; a string ends at a zero
	opLoop             // kids, as often as it says
	opChoose           // the one of options that a slot selects
)

// A node is a step in reading a structure. The nodes of a nested structure belong to the
// outer one.
type node struct {
	op      op
	big     bool // byte order
	signed  bool
	dynamic bool // count is in slot ref
	counted bool // a uint16 with the count comes before it on the wire
	mayMiss bool
	role    role
	width   uint8 // in bytes on the wire, 0 if it is not part of the payload
	size    int   // in bits
	mask    int   // alignment - 1
	slot    int   // 1 + index of the stored value, if others refer to it
	ref     int   // slot of count or selector
	count   uint64
	kids    inner
	options []option
}

type option struct {
	ranges []tsdl.Range
	inner
}

// An inner plan reads an array's element, or a variant's option.
type inner struct {
	nodes plan
	work  int // its cost: its nodes before they were fused
}

func newInner(nodes plan) inner { return inner{fused(nodes), len(nodes)} }

// A plan is how to read one structure: nil if there is none.
type plan []node

const (
	maxNodes = 1 << 15 // of the plans of one trace
	maxSlots = 1 << 12 // values that they keep
	// maxLoose bounds the nodes of an event that may take no space. The others need no
	// bound, because the size of the event is one.
	maxLoose = 512
)

// A role is the purpose of a value.
type role uint8

// Roles in addition to the tsdl.NumRoles ones of CTF 2.
const (
	roleCPU = role(tsdl.NumRoles) + iota
	roleVPID
	roleVTID
	rolePID
	roleTID
	rolePthread
	roleProcname
	numRoles
)

// rolesByName are the roles of values in CTF 1.8, which are given by their names.
var rolesByName = [...]map[string]role{
	tsdl.PacketHeader: {
		"magic": role(tsdl.PacketMagic), "uuid": role(tsdl.TraceUUID),
		"stream_id": role(tsdl.StreamID), "stream_instance_id": role(tsdl.StreamInstance),
	},
	tsdl.PacketContext: {
		"timestamp_begin": role(tsdl.Timestamp), "timestamp_end": role(tsdl.PacketEnd),
		"content_size": role(tsdl.ContentSize), "packet_size": role(tsdl.PacketSize),
		"packet_seq_num": role(tsdl.PacketSequence), "events_discarded": role(tsdl.Discarded),
	},
	tsdl.EventHeader: {"id": role(tsdl.EventID), "timestamp": role(tsdl.Timestamp)},
	tsdl.Payload:     nil,
}

// contextRoles are the roles of context fields, given by their names in both versions.
var contextRoles = map[string]role{
	"cpu_id": roleCPU, "vpid": roleVPID, "vtid": roleVTID, "pid": rolePID, "tid": roleTID,
	"pthread_id": rolePthread, "procname": roleProcname,
}

// A frame is the fields of a structure that were planned so far.
type frame struct {
	outer  *frame
	scope  tsdl.Scope // if it is the outermost of its scope
	fields []entry
}

type entry struct {
	name  string
	typ   *tsdl.Type
	slot  int    // 1 + slot, 0 if the value is not kept
	inner *frame // of a structure
}

// A planner turns types into nodes. It plans the scopes of a packet one after
// the other: a later one may refer to the earlier ones. After a failure it plans no more.
type planner struct {
	err    error // the first failure
	trace  *tsdl.Trace
	scope  tsdl.Scope
	frame  *frame
	slots  int // in use
	lowest int // slot that was referred to
	nodes  *int
	loose  int             // nodes that may take no space
	wanted map[string]bool // names whose values are kept; nil for all
	wire   bool            // values are part of a payload
	counts bool            // payloads describe themselves: arrays have their counts

	described int // fields of a payload that describes itself
	head      int // remaining bytes of the payload's wanted head
}

// plan plans the structure of one scope.
func (p *planner) plan(scope tsdl.Scope, t *tsdl.Type) plan {
	p.scope = scope
	p.frame = &frame{outer: p.frame, scope: scope}
	if t == nil {
		return nil
	}
	if t.Kind != tsdl.Struct {
		p.fail(binread.Malformed("a scope that is no structure"))
		return nil
	}
	var out plan
	p.fields(&out, t)
	return fused(out)
}

func (p *planner) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *planner) add(out *plan, n node) {
	if p.err != nil {
		return
	}
	if n.loose() {
		p.loose++
	}
	switch *p.nodes++; {
	case *p.nodes > maxNodes:
		p.fail(fmt.Errorf("%w: more than %d fields to read", trace.ErrTooLarge, maxNodes))
	case p.loose > maxLoose:
		p.fail(fmt.Errorf("%w: more than %d fields that may be empty", trace.ErrTooLarge, maxLoose))
	default:
		*out = append(*out, n)
	}
}

// loose reports whether n may take no space.
func (n *node) loose() bool {
	switch n.op {
	case opInt, opVarInt, opString:
		return false
	case opCopy, opText:
		return n.dynamic || n.count == 0
	}
	return true
}

// fields plans the fields of a structure.
func (p *planner) fields(out *plan, t *tsdl.Type) {
	if t.Align > 1 {
		p.add(out, node{op: opAlign, mask: t.Align - 1})
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		e := entry{name: f.Name, typ: f.Type}
		wire := p.wire
		if p.scope == tsdl.Payload {
			p.wire = wire && !p.omits(t.Fields, i)
		}
		p.value(out, f.Type, p.role(f), &e)
		p.wire = wire
		p.frame.fields = append(p.frame.fields, e)
	}
}

// omits reports whether the field i of a structure is not part of the payload
// on the wire.
func (p *planner) omits(fields []tsdl.Field, i int) bool {
	if generatedLength(fields, i) {
		return true
	}
	if p.frame.scope != tsdl.Payload {
		return false // it is a part of a field
	}
	if p.head <= 0 || p.counts && i >= p.described {
		return true
	}
	if t := fields[i].Type; t.Kind == tsdl.Int { // others may be empty
		p.head -= wireSize(t.Size)
	}
	return false
}

// generatedLength reports whether the field i is a length that LTTng puts before
// the sequence that it is of, or that .NET puts before packed fields.
func generatedLength(fields []tsdl.Field, i int) bool {
	name := fields[i].Name
	for _, f := range fields[i+1:] {
		if f.Type.Kind == tsdl.Dynamic && (name == "_"+f.Name+"_length" || name == packedLength(f.Name)) {
			return true
		}
	}
	return false
}

// packedName is the field of .NET's packed fields (genLttngProvider.py).
const packedName = "__data__"

// packedLength returns the name of the length that .NET puts before the packed
// fields called name: "length", or in previews of CoreCLR 1.0, which pack
// arrays of structures as Arg0_Struct_Pointer_, Arg0_Struct_Len_. It is empty
// for others.
func packedLength(name string) string {
	if name == packedName {
		return "length"
	}
	if arg, ok := strings.CutSuffix(name, "_Struct_Pointer_"); ok {
		return arg + "_Struct_Len_"
	}
	return ""
}

func (p *planner) role(f *tsdl.Field) role {
	if f.Role != tsdl.NoRole {
		return role(f.Role)
	}
	if p.trace.Major == 1 && int(p.scope) < len(rolesByName) {
		if r := rolesByName[p.scope][f.Name]; r != 0 {
			return r
		}
		if p.scope == tsdl.EventHeader && f.Type.Clock != "" {
			return role(tsdl.Timestamp)
		}
	}
	switch p.scope {
	case tsdl.PacketContext, tsdl.StreamContext, tsdl.EventContext:
		return contextRoles[f.Name]
	}
	return 0
}

// value plans a value of type t. It records in e how later fields can refer to it.
func (p *planner) value(out *plan, t *tsdl.Type, r role, e *entry) {
	if p.err != nil {
		return
	}
	n := node{mask: t.Align - 1, size: t.Size, signed: t.Signed, role: r, big: p.big(t)}
	switch t.Kind {
	case tsdl.Int:
		n.width = p.width(wireSize(t.Size))
		p.keep(&n, e)
	case tsdl.VarInt:
		n.op, n.width = opVarInt, p.width(8)
		p.keep(&n, e)
	case tsdl.Float:
		switch {
		case t.Size > 64:
			n.op, n.count = opCopy, uint64(t.Size/8)
		case t.Size >= 32:
			n.width = p.width(t.Size / 8)
		}
	case tsdl.String:
		n.op, n.width = opString, p.width(1)
	case tsdl.Struct:
		p.frame = &frame{outer: p.frame}
		p.fields(out, t)
		e.inner, p.frame = p.frame, p.frame.outer
		return
	case tsdl.Array, tsdl.Dynamic:
		p.array(&n, t)
	default:
		p.variant(&n, t)
	}
	p.add(out, n)
}

func (p *planner) width(n int) uint8 {
	if !p.wire {
		return 0
	}
	return uint8(n)
}

// wireSize returns the size in bytes of the smallest integer that has this many
// bits.
func wireSize(bits int) int {
	for _, size := range [...]int{1, 2, 4} {
		if bits <= 8*size {
			return size
		}
	}
	return 8
}

func (p *planner) big(t *tsdl.Type) bool {
	if t.Order == tsdl.Native {
		return p.trace.ByteOrder == tsdl.BigEndian
	}
	return t.Order == tsdl.BigEndian
}

// keep stores the value in a slot, if others may refer to it.
func (p *planner) keep(n *node, e *entry) {
	if (p.wanted == nil || p.wanted[e.name]) && p.slots < maxSlots {
		p.slots++
		n.slot, e.slot = p.slots, p.slots
	}
}

func (p *planner) array(n *node, t *tsdl.Type) {
	n.op, n.count, n.width = opLoop, t.Length, p.width(1)
	if t.Kind == tsdl.Dynamic {
		n.dynamic, n.ref = true, p.find(t.Ref).slot-1
		n.counted = p.counts && p.wire
	}
	elem := t.Elem
	switch {
	case elem.Kind != tsdl.Int || elem.Size != 8 || elem.Align != 8:
		n.kids = p.inner(elem, 0)
	case elem.Text:
		n.op, n.size, n.counted = opText, 8, false
	default:
		n.op, n.size = opCopy, 8
	}
}

func (p *planner) variant(n *node, t *tsdl.Type) {
	selector := p.find(t.Ref)
	n.op, n.ref, n.mayMiss = opChoose, selector.slot-1, t.MayMiss
	n.signed = selector.typ.Signed
	for _, o := range t.Options {
		ranges := o.Ranges
		if len(ranges) == 0 {
			ranges = labelled(selector.typ, o.Name)
		}
		n.options = append(n.options, option{ranges, p.inner(o.Type, p.optionRole(&o))})
	}
}

// inner plans an element or an option, which fields outside of it cannot refer to.
func (p *planner) inner(t *tsdl.Type, r role) inner {
	p.frame = &frame{outer: p.frame}
	var kids plan
	p.value(&kids, t, r, &entry{})
	p.frame = p.frame.outer
	return newInner(kids)
}

// optionRole returns the role of an option of an event header that is an
// integer.
func (p *planner) optionRole(o *tsdl.Option) role {
	return p.role(&tsdl.Field{Name: o.Name, Type: o.Type})
}

// labelled returns the values that have a label.
func labelled(t *tsdl.Type, label string) []tsdl.Range {
	var ranges []tsdl.Range
	for _, m := range t.Labels {
		if m.Label == label || "_"+label == m.Label {
			ranges = append(ranges, m.Ranges...)
		}
	}
	return ranges
}

// find returns the field that a reference names, which must come before it.
func (p *planner) find(r tsdl.Ref) *entry {
	for f := p.frame; f != nil; f = f.outer {
		if r.Scope != tsdl.Anywhere && f.scope != r.Scope {
			continue
		}
		if e := f.lookup(r.Path); e != nil {
			if e.slot > 0 {
				p.lowest = min(p.lowest, e.slot)
			} else {
				p.fail(binread.Malformed("field %q, which others depend on, is no integer", r.Path))
			}
			return e
		}
	}
	p.fail(binread.Malformed("field %q, which others depend on, is missing", r.Path))
	return &entry{typ: &tsdl.Type{}}
}

func (f *frame) lookup(path []string) *entry {
	for i := len(f.fields) - 1; i >= 0; i-- {
		e := &f.fields[i]
		switch {
		case len(path) == 0 || e.name != path[0]:
		case len(path) == 1:
			return e
		case e.inner != nil:
			return e.inner.lookup(path[1:])
		}
	}
	return nil
}

// referredTo returns the names in t that others depend on.
func referredTo(t *tsdl.Type) map[string]bool {
	names, seen := map[string]bool{}, map[*tsdl.Type]bool{}
	var walk func(*tsdl.Type)
	walk = func(t *tsdl.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if n := len(t.Ref.Path); n > 0 {
			names[t.Ref.Path[n-1]] = true
		}
		walk(t.Elem)
		for i := range t.Fields {
			walk(t.Fields[i].Type)
		}
		for i := range t.Options {
			walk(t.Options[i].Type)
		}
	}
	walk(t)
	return names
}

// fused joins adjacent nodes whose bytes are the same in the trace and on the wire.
func fused(nodes plan) plan {
	var out plan
	for i, n := range nodes {
		if n.op == opAlign && i+1 < len(nodes) && nodes[i+1].mask >= n.mask {
			continue
		}
		if n.plain() {
			n = node{op: opBytes, mask: 7, size: n.bits(), width: min(n.width, 1)}
		}
		if last := len(out) - 1; last >= 0 && out[last].op == opBytes {
			if n.op == opAlign && n.mask <= 7 {
				continue
			}
			if n.op == opBytes && n.width == out[last].width {
				out[last].size += n.size
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// plain reports whether n has a fixed size, is copied unchanged or left out, and no other node
// refers to it.
func (n *node) plain() bool {
	if n.mask != 7 || n.role != 0 || n.slot != 0 || n.dynamic {
		return false
	}
	switch n.op {
	case opInt:
		return n.size%8 == 0 && (n.width == 0 || !n.big && n.size == 8*int(n.width))
	case opCopy:
		return n.count <= maxPlain
	case opText:
		return n.count <= maxPlain && n.width == 0
	}
	return false
}

// maxPlain bounds the bytes that an opBytes has of one array.
const maxPlain = 1 << 20

// bits returns the size of a plain node.
func (n *node) bits() int {
	if n.op == opInt {
		return n.size
	}
	return 8 * int(n.count)
}
