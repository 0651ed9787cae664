package figure

import (
	"strconv"
	"time"
)

// AppendMillis appends d in milliseconds, exactly and without trailing zeros.
func AppendMillis(dst []byte, d time.Duration) []byte {
	ns := uint64(d)
	if d < 0 {
		dst, ns = append(dst, '-'), -ns
	}
	dst = strconv.AppendUint(dst, ns/1e6, 10)
	rest := ns % 1e6
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(1e5); rest > 0; unit /= 10 {
		dst = append(dst, byte('0'+rest/unit))
		rest %= unit
	}
	return dst
}
