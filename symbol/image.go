package symbol

import (
	"strings"
	"unicode/utf8"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// An image is a file that is mapped into a process.
type image struct {
	span
	offset uint64 // of start in the file
	name   string
}

// addImage adds a file's mapping, for the addresses in it that belong to no
// method. A mapping that is listed again is the same.
func (t *Table) addImage(p *process, i image) {
	if i.end <= i.start || i.name == "" {
		return
	}
	if last := p.images.last(i.start); last != nil && last.name == i.name {
		return
	}
	if t.modules >= maxModules || len(p.images.all) >= maxImages || t.bytes+len(i.name) > maxNameBytes {
		t.dropped++
		return
	}
	t.modules++
	t.bytes += len(i.name)
	p.images.add(i)
	p.sorted = false
}

// Opcodes of the kernel's events about images.
const (
	imageUnload  = 2
	imageDCStart = 3
	imageDCEnd   = 4
	imageLoad    = 10
)

// kernelImages is the name of the kernel's provider of these events.
const kernelImages = "Image"

// kernelImage processes an image event of ETW's kernel provider: base and
// size, the process, five numbers and the default base in between, and the path
// (Image_Load of the Windows SDK, versions 2 and 3). Images that are listed at the
// end of the trace may have been loaded at any time.
func (t *Table) kernelImage(ev *trace.Event) {
	c := binread.At(ev.Payload, 0)
	base, size := c.Ptr(ev.PointerSize), c.Ptr(ev.PointerSize)
	pid := uint64(c.U32())
	c.Skip(3 * 4)
	c.Skip(ev.PointerSize)
	c.Skip(4 * 4)
	path := clr.UTF16(c.UTF16())
	if c.Err() != nil {
		return
	}
	if t.lacksRoom(pid) {
		t.dropped++
		return
	}
	p := t.process(pid)
	if ev.Desc.Opcode == imageUnload {
		if last := p.images.last(base); last != nil {
			last.to = ev.Time()
		}
		return
	}
	from := always
	if ev.Desc.Opcode == imageLoad {
		from = ev.Time()
	}
	t.addImage(p, image{span: span{base, base + size, from, never}, name: baseName(path.String())})
}

// The provider of one-collect's events about the code in processes, and their ids
// (nettrace.rs).
const (
	systemProvider = "Universal.System"

	processMapping = 3
	processSymbol  = 4
)

// mapping processes a file that is mapped into the event's process: an id, the
// addresses, the offset in the file, and its path.
func (t *Table) mapping(ev *trace.Event) {
	c := binread.At(ev.Payload, 0)
	c.Uvarint64()
	start, end, offset := c.Uvarint64(), c.Uvarint64(), c.Uvarint64()
	path := string(c.Bytes(int(c.U16())))
	if c.Err() != nil || !isFile(path) {
		return
	}
	t.addImage(t.process(ev.PID), image{span: span{start, end, ev.Time(), never}, offset: offset, name: baseName(path)})
}

// isFile reports whether a path in a mapping is a file's: not memory without one,
// nor the memory that the runtime compiles into.
func isFile(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "/memfd:") && utf8.ValidString(path)
}

// symbol processes a method of the event's process: its id, that of the mapping it
// is in, the addresses, and its name as perf maps spell it. It is written with the
// mapping, however late the code was compiled.
func (t *Table) symbol(ev *trace.Event) {
	c := binread.At(ev.Payload, 0)
	c.Uvarint64()
	c.Uvarint64()
	start, end := c.Uvarint64(), c.Uvarint64()
	name := c.Bytes(int(c.U16()))
	if c.Err() != nil {
		return
	}
	p := t.process(ev.PID)
	t.addSymbol(p, &p.methods, start, end, string(name))
}

// addSymbol adds a method as perf maps spell it.
func (t *Table) addSymbol(p *process, methods *spans[method, *method], start, end uint64, name string) {
	name = managedName(strings.ToValidUTF8(name, "\ufffd"))
	if end <= start || name == "" {
		return
	}
	t.add(p, methods, method{span: span{start, end, always, never}}, []byte(name))
}
