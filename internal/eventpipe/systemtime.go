package eventpipe

import (
	"encoding/binary"
	"time"
)

// SystemTime reads a Windows SYSTEMTIME in UTC.
func SystemTime(b []byte) time.Time {
	if b == nil {
		return time.Time{}
	}
	f := func(i int) int { return int(binary.LittleEndian.Uint16(b[2*i:])) }
	return time.Date(f(0), time.Month(f(1)), f(3), f(4), f(5), f(6), f(7)*int(time.Millisecond), time.UTC)
}

// AppendSystemTime appends a Windows SYSTEMTIME, in UTC.
func AppendSystemTime(dst []byte, t time.Time) []byte {
	for _, v := range [8]int{
		t.Year(), int(t.Month()), int(t.Weekday()), t.Day(),
		t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / int(time.Millisecond),
	} {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	return dst
}
