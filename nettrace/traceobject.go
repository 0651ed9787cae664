package nettrace

import (
	"io"
	"math/bits"
	"strconv"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
)

// traceObject reads the Trace object or block: clocks, pointer size, process.
func (r *Reader) traceObject(b *eventpipe.Block) error {
	c := binread.At(b.Data, b.Off)
	r.info.Format = "nettrace V" + strconv.Itoa(b.Version)
	switch r.in.Version {
	case 3:
		r.info.Format = "netperf V3"
	case 6:
		r.info.Format = "nettrace V6"
	}
	r.info.Start = eventpipe.SystemTime(c.Bytes(16))
	sync := c.U64()
	frequency := int64(c.U64())
	r.info.PointerSize = int(int32(c.U32()))
	if r.in.Version == 6 {
		r.traceValues(&c)
	} else {
		if pid := c.U32(); pid != 0 { // as the writer of a trace of unknown origin has it
			r.info.PID = uint64(pid)
		}
		r.info.CPUs = max(0, int(int32(c.U32())))
	}
	if c.OK() {
		frequency = r.mended(frequency, b.Off)
	}
	switch {
	case b.Cut || !c.OK():
		return r.in.Fail("trace object", io.ErrUnexpectedEOF)
	case frequency <= 0 || frequency > maxFrequency:
		return r.in.Fail("trace object", binread.Malformed("clock frequency %d", frequency))
	case r.info.PointerSize != 4 && r.info.PointerSize != 8:
		return r.in.Fail("trace object", binread.Malformed("pointer size %d", r.info.PointerSize))
	}
	r.info.Clock.Frequency = frequency
	r.startAt(sync)
	r.event.Clock = r.info.Clock
	r.event.PointerSize = r.info.PointerSize
	return nil
}

// mended returns the clock's frequency. If it differs by one bit from a common one, it
// was damaged, and the common one is returned: a tick is a nanosecond on Linux and macOS,
// and 100 ns on Windows.
func (r *Reader) mended(frequency, off int64) int64 {
	for _, common := range []int64{1e9, 1e7} {
		if bits.OnesCount64(uint64(frequency^common)) == 1 {
			r.damaged(off, "trace object", binread.Malformed("clock frequency %d, one bit off %d", frequency, common))
			return common
		}
	}
	return frequency
}

// traceValues reads the names and values of a V6 Trace block.
func (r *Reader) traceValues(c *binread.Cursor) {
	for n := c.U32(); n > 0 && c.OK(); n-- {
		name, value := eventpipe.UTF8(c), eventpipe.UTF8(c)
		number, err := strconv.ParseUint(value, 0, 64)
		if err != nil {
			continue
		}
		switch name {
		case "ProcessId":
			if number != 0 {
				r.info.PID = number
			}
		case "HardwareThreadCount":
			r.info.CPUs = int(min(number, 1<<16))
		}
	}
}
