package etl

import (
	"strings"
	"unicode/utf16"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

const groupProcess = 3

// Ids of Microsoft-Windows-Kernel-Process.
const (
	kernelProcessStart   = 1
	kernelProcessRundown = 15
)

// Opcodes of the kernel's events about processes.
const (
	processStart   = 1
	processStop    = 2
	processDCStart = 3
	processDCStop  = 4
	processDefunct = 39
)

// maxProcessText bounds the names and command lines that are kept, in bytes.
const maxProcessText = 4 << 20

// processes gathers what kernel events say of processes.
type processes struct {
	byPID map[uint64]trace.Process
	told  map[uint64]int64 // when, in ticks
	text  int              // bytes in byPID
}

// kernel takes in an event of the kernel's group of processes. The layouts are
// those of the MOF classes Process_V0_TypeGroup1 to Process_V4_TypeGroup1
// (wmicore.mof of the Windows SDK); version 5 appends to version 4.
func (t *processes) kernel(d *trace.Descriptor, payload []byte, ptr int, ticks int64) {
	switch d.Opcode {
	case processStart, processStop, processDCStart, processDCStop, processDefunct:
	default:
		return
	}
	c := binread.At(payload, 0)
	var pid uint64
	var p trace.Process
	if d.Version == 0 {
		pid = uint64(c.U32()) // as wide as a pointer
		c.Skip(ptr - 4)
		p.Parent = uint64(c.U32())
		c.Skip(ptr - 4)
	} else {
		c.Skip(ptr) // UniqueProcessKey, in version 1 PageDirectoryBase
		pid = uint64(c.U32())
		p.Parent = uint64(c.U32())
		c.Skip(8) // SessionId, ExitStatus
	}
	if d.Version >= 3 {
		c.Skip(ptr) // DirectoryTableBase
	}
	if d.Version >= 4 {
		c.Skip(4) // Flags
	}
	skipSID(&c, ptr)
	p.Name = latin1(&c)
	if d.Version >= 2 && c.Len() > 0 {
		p.CommandLine = utf16Text(c.UTF16())
	}
	if c.OK() {
		t.set(pid, p, ticks)
	}
}

// skipSID passes a security identifier: four zero bytes, or a TOKEN_USER and
// then a SID.
func skipSID(c *binread.Cursor, ptr int) {
	peek := *c
	if peek.U32() == 0 {
		c.Skip(4)
		return
	}
	c.Skip(2 * ptr)
	c.Skip(1) // revision
	n := int(c.U8())
	c.Skip(6 + 4*n)
}

// started takes in a ProcessStart or ProcessRundown of
// Microsoft-Windows-Kernel-Process, as its manifest lays them out. The image is a
// path of the kernel's.
func (t *processes) started(d *trace.Descriptor, payload []byte, ticks int64) {
	version := d.Version
	if d.ID == kernelProcessRundown {
		version += 2 // of a ProcessStart with the same fields
	}
	c := binread.At(payload, 0)
	pid := uint64(c.U32())
	if version >= 3 {
		c.Skip(8) // ProcessSequenceNumber
	}
	c.Skip(8) // CreateTime
	p := trace.Process{Parent: uint64(c.U32())}
	if version >= 3 {
		c.Skip(8) // ParentProcessSequenceNumber
	}
	c.Skip(4) // SessionID
	if version >= 1 {
		c.Skip(4) // Flags
	}
	if version >= 3 {
		c.Skip(8) // ProcessTokenElevationType, ProcessTokenIsElevated
		skipFlatSID(&c)
	}
	p.Name = baseName(utf16Text(c.UTF16()))
	if c.OK() {
		t.set(pid, p, ticks)
	}
}

// skipFlatSID passes a SID without a TOKEN_USER before it.
func skipFlatSID(c *binread.Cursor) {
	c.Skip(1)
	n := int(c.U8())
	c.Skip(6 + 4*n)
}

// set notes a process, unless a later one with its PID is known, or what is
// known of it says more.
func (t *processes) set(pid uint64, p trace.Process, ticks int64) {
	old, known := t.byPID[pid]
	if known && (ticks < t.told[pid] || p.CommandLine == "" && p.Name == old.Name) {
		return
	}
	size := len(p.Name) + len(p.CommandLine) + 64
	if t.text+size > maxProcessText {
		return
	}
	t.text += size - len(old.Name) - len(old.CommandLine)
	t.byPID[pid], t.told[pid] = p, ticks
}

// latin1 reads bytes up to a zero, each a character.
func latin1(c *binread.Cursor) string {
	var b strings.Builder
	for {
		ch := c.U8()
		if ch == 0 {
			return b.String()
		}
		b.WriteRune(rune(ch))
	}
}

func utf16Text(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = le.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func baseName(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }
