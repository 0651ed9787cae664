package etl

import (
	"math"
	"slices"
	"strings"

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

const (
	// maxProcessText bounds the texts stored about processes, in bytes.
	maxProcessText = 8 << 20
	// maxUsers bounds the processes that are kept of one PID.
	maxUsers = 64
)

// processes collects the kernel's events about processes. Because a PID may be used
// again, the last process that has raised an event of the runtime counts.
type processes struct {
	byPID map[uint64]trace.Process
	uses  map[uint64]*pidUse
	text  int // bytes in uses

	latest    *pidUse // that of latestPID, the last process that raised
	latestPID uint64
}

// A pidUse is how one PID was used.
type pidUse struct {
	by     []user // in time order
	raised int64  // when an event of the runtime last came from it, in ticks
}

// A user is a process that has a PID, from some time on.
type user struct {
	trace.Process
	from, detailed int64 // in ticks; detailed is the time of the most detailed event
}

// kernel processes an event of the kernel's group of processes. The layouts are the MOF
// classes Process_V0_TypeGroup1 to Process_V4_TypeGroup1 (wmicore.mof of the Windows
// SDK); version 5 appends to version 4.
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
		c.Skip(ptr) // ParentId
	} else {
		c.Skip(ptr) // UniqueProcessKey, in version 1 PageDirectoryBase
		pid = uint64(c.U32())
		c.Skip(12) // ParentId, SessionId, ExitStatus
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
		p.CommandLine = c.Text()
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
	skipFlatSID(c)
}

// started processes a ProcessStart or ProcessRundown of
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
	var p trace.Process
	c.Skip(4) // ParentProcessID
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
	p.Name = baseName(c.Text())
	if c.OK() {
		t.set(pid, p, ticks)
	}
}

// skipFlatSID passes a SID without a TOKEN_USER before it.
func skipFlatSID(c *binread.Cursor) {
	c.Skip(1) // revision
	n := int(c.U8())
	c.Skip(6 + 4*n)
}

// userSize estimates the memory of a user without its text.
const userSize = 128

// set records the process that has a PID at a time, unless a more detailed event is
// known. A different name means a different process.
func (t *processes) set(pid uint64, p trace.Process, ticks int64) {
	u := t.use(pid)
	if u == nil {
		return
	}
	i := u.at(ticks)
	switch {
	case i >= 0 && u.by[i].Name == p.Name:
	case i+1 < len(u.by) && u.by[i+1].Name == p.Name:
		i++
		u.by[i].from = ticks
	case len(u.by) == maxUsers, !t.room(userSize + len(p.Name)):
		return
	default:
		i++
		u.by = slices.Insert(u.by, i, user{trace.Process{Name: p.Name}, ticks, ticks})
	}
	known := &u.by[i]
	if ticks >= known.detailed && p.CommandLine != "" && t.room(len(p.CommandLine)-len(known.CommandLine)) {
		known.Process, known.detailed = p, ticks
	}
	t.byPID[pid] = u.last().Process
}

// raised notes that an event of the runtime came from a PID.
func (t *processes) raised(pid uint64, ticks int64) {
	u := t.latest
	if u == nil || pid != t.latestPID {
		if u = t.use(pid); u == nil {
			return
		}
		t.latest, t.latestPID = u, pid
	}
	if ticks <= u.raised {
		return
	}
	u.raised = ticks
	if len(u.by) > 1 {
		t.byPID[pid] = u.last().Process
	}
}

// use returns the record of a PID, and adds one if there is none. It returns nil if there is no
// room for another.
func (t *processes) use(pid uint64) *pidUse {
	u := t.uses[pid]
	if u == nil && t.room(userSize) {
		u = &pidUse{raised: math.MinInt64}
		t.uses[pid] = u
	}
	return u
}

// room reserves n bytes of maxProcessText, if there are so many.
func (t *processes) room(n int) bool {
	if t.text+n > maxProcessText {
		return false
	}
	t.text += n
	return true
}

// at returns the user of a time, -1 before the first.
func (u *pidUse) at(ticks int64) int {
	i := len(u.by) - 1
	for i >= 0 && u.by[i].from > ticks {
		i--
	}
	return i
}

// last returns the last user that raised an event of the runtime, or else the last one
// known.
func (u *pidUse) last() *user {
	if u.raised == math.MinInt64 {
		return &u.by[len(u.by)-1]
	}
	return &u.by[max(0, u.at(u.raised))]
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

func baseName(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }
