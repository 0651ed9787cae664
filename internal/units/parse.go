package units

import (
	"slices"
	"strconv"
	"strings"
)

// byteUnits are the units of sizes in input.
var byteUnits = []Scale{
	{"B", 1},
	{"KB", kilobyte},
	{"MB", megabyte},
	{"GB", gigabyte},
	{"TB", terabyte},
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
}

// ByteUnits returns the units that people write sizes in.
func ByteUnits() []Scale { return slices.Clone(byteUnits) }

// ParseBytes reads a size with its unit, in upper or lower case: "500MB", "1.5 GiB". It
// returns false if s is not a size, or one of 10^18 bytes or more.
func ParseBytes(s string) (int64, bool) { return parseBytes(s, byteUnits) }

// parseBytes reads a size in one of some units.
func parseBytes(s string, units []Scale) (int64, bool) {
	digits := strings.TrimRightFunc(s, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
	for _, u := range units {
		if !strings.EqualFold(s[len(digits):], u.Unit) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err == nil && v >= 0 && v*u.size < 1e18 {
			return int64(v * u.size), true
		}
	}
	return 0, false
}
