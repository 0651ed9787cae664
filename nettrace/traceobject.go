package nettrace

import (
	"encoding/binary"
	"io"
	"math/bits"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
)

// traceObject reads the Trace object or block: clocks, pointer size, process.
func (r *Reader) traceObject(b *block) error {
	c := binread.At(b.data, b.off)
	r.info.Format = "nettrace V" + strconv.Itoa(b.version)
	switch r.in.version {
	case 3:
		r.info.Format = "netperf V3"
	case 6:
		r.info.Format = "nettrace V6"
	}
	r.info.Start = systemTime(c.Bytes(16))
	sync := c.U64()
	frequency := int64(c.U64())
	r.info.PointerSize = int(int32(c.U32()))
	if r.in.version == 6 {
		r.traceValues(&c)
	} else {
		r.info.PID = uint64(c.U32())
		r.info.CPUs = int(int32(c.U32()))
	}
	if c.OK() {
		frequency = r.mended(frequency, b.off)
	}
	switch {
	case b.cut || !c.OK():
		return r.in.fail("trace object", io.ErrUnexpectedEOF)
	case frequency <= 0 || frequency > maxFrequency:
		return r.in.fail("trace object", malformed("clock frequency %d", frequency))
	case r.info.PointerSize != 4 && r.info.PointerSize != 8:
		return r.in.fail("trace object", malformed("pointer size %d", r.info.PointerSize))
	}
	r.info.Clock.Frequency = frequency
	r.startAt(sync)
	r.event.Clock = r.info.Clock
	r.event.PointerSize = r.info.PointerSize
	return nil
}

// mended returns the clock's frequency, or the one that it is if all but one bit
// of it are those of a common one: a tick is a nanosecond on Linux and macOS, and
// 100 ns on Windows.
func (r *Reader) mended(frequency, off int64) int64 {
	for _, common := range []int64{1e9, 1e7} {
		if bits.OnesCount64(uint64(frequency^common)) == 1 {
			r.damaged(off, "trace object", malformed("clock frequency %d, one bit off %d", frequency, common))
			return common
		}
	}
	return frequency
}

// traceValues reads the names and values of a V6 Trace block.
func (r *Reader) traceValues(c *binread.Cursor) {
	for n := c.U32(); n > 0 && c.OK(); n-- {
		name, value := utf8(c), utf8(c)
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

// systemTime reads a Windows SYSTEMTIME in UTC.
func systemTime(b []byte) time.Time {
	if b == nil {
		return time.Time{}
	}
	f := func(i int) int { return int(binary.LittleEndian.Uint16(b[2*i:])) }
	return time.Date(f(0), time.Month(f(1)), f(3), f(4), f(5), f(6), f(7)*int(time.Millisecond), time.UTC)
}
