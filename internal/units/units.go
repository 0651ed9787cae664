// Package units writes figures for people: bytes, durations, counts and shares,
// with three significant digits or one decimal, and thousands separated by
// commas. A megabyte is 1,000,000 bytes.
package units

import (
	"math"
	"strconv"
	"time"
)

const (
	kilobyte = 1_000
	megabyte = 1_000_000
	gigabyte = 1_000_000_000

	fromGigabytes = 10 * gigabyte // below, megabytes compare better
)

// Bytes writes a size: "512 B", "12.3 kB", "1,234.5 MB", "12.3 GB".
func Bytes(n int64) string {
	switch size := abs(n); {
	case size < kilobyte:
		return strconv.FormatInt(n, 10) + " B"
	case size < megabyte:
		return fixed(float64(n)/kilobyte, 1) + " kB"
	case size < fromGigabytes:
		return fixed(float64(n)/megabyte, 1) + " MB"
	default:
		return fixed(float64(n)/gigabyte, 1) + " GB"
	}
}

// MB writes a size in megabytes without the unit, for a column: "1,234.5".
func MB(n int64) string { return fixed(float64(n)/megabyte, 1) }

// Duration writes a stretch of time: "0.042 ms", "12.3 ms", "1.23 s", "2m5s".
func Duration(d time.Duration) string {
	switch abs := d.Abs(); {
	case abs < time.Second:
		return significant(millis(d)) + " ms"
	case abs < 100*time.Second:
		return significant(d.Seconds()) + " s"
	default:
		return d.Round(time.Second).String()
	}
}

// Millis writes a duration in milliseconds without the unit, for a column.
func Millis(d time.Duration) string {
	ms := millis(d)
	if math.Abs(ms) >= 100 {
		return fixed(ms, 0)
	}
	return significant(ms)
}

// Count writes a whole number: "1,234".
func Count[T int | int64 | uint64 | uint32](n T) string { return fixed(float64(n), 0) }

// Percent writes a share of a hundred: "0.42 %", "12.3 %", "100 %".
func Percent(p float64) string { return significant(p) + " %" }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// significant writes v with three significant digits and at most three
// decimals.
func significant(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 0.0005:
		return "<0.001"
	case a < 0.1:
		return fixed(v, 3)
	case a < 9.995:
		return fixed(v, 2)
	case a < 99.95:
		return fixed(v, 1)
	default:
		return fixed(v, 0)
	}
}

// fixed writes v with a number of decimals, and commas between thousands.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	whole := len(s)
	if decimals > 0 {
		whole -= decimals + 1
	}
	first := 0
	if s[0] == '-' {
		first = 1
	}
	for i := whole - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
