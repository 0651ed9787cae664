// Package units writes figures for people: sizes, durations, counts and shares, with at most
// three significant digits, in a unit that fits, and thousands separated by commas. A megabyte
// is 1,000,000 bytes. It also adds figures without overflow, and names the values of
// enumerations.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	kilobyte = 1_000
	megabyte = 1_000_000
	gigabyte = 1_000_000_000
	terabyte = 1_000_000_000_000

	rounded = 0.9995 // of a unit, from where three digits round up to it
)

// Unknown stands for a figure that is not known, on every screen.
const Unknown = "-"

// Optional writes a figure that may be unknown.
func Optional[T any](v interface{ Get() (T, bool) }, write func(T) string) string {
	if figure, known := v.Get(); known {
		return write(figure)
	}
	return Unknown
}

// A Scale is the common unit of figures that are compared, such as the ones in a column.
type Scale struct {
	Unit string
	size float64 // in bytes or nanoseconds
}

// Scales are in order of size. Columns of sizes begin with megabytes, so that
// the tables of a trace mostly have the same unit.
var (
	sizes       = []Scale{{"B", 1}, {"kB", kilobyte}, {"MB", megabyte}, {"GB", gigabyte}}
	columnSizes = sizes[2:]
	times       = []Scale{{"µs", float64(time.Microsecond)}, {"ms", float64(time.Millisecond)}, {"s", float64(time.Second)}}
)

// AxisScale returns the unit for an axis of sizes up to top.
func AxisScale(top float64) Scale { return fitting(sizes, top) }

// One returns the size of the unit, in bytes or nanoseconds.
func (s Scale) One() float64 { return s.size }

// SizeScale returns the unit for a column of sizes up to largest.
func SizeScale(largest int64) Scale { return fitting(columnSizes, math.Abs(float64(largest))) }

// TimeScale returns the unit for a column of durations up to longest.
func TimeScale(longest time.Duration) Scale { return timeScale(longest.Abs()) }

// timeScale returns µs below 0.1 ms.
func timeScale(d time.Duration) Scale {
	if d == 0 || d >= 99_950*time.Nanosecond {
		return fitting(times[1:], float64(d))
	}
	return times[0]
}

// fitting returns the largest of some scales that is not larger than v, or the
// first.
func fitting(scales []Scale, v float64) Scale {
	fits := scales[0]
	for _, s := range scales[1:] {
		if v >= s.size*rounded {
			fits = s
		}
	}
	return fits
}

// Size writes n without the unit.
func (s Scale) Size(n int64) string { return significant(float64(n) / s.size) }

// Time writes d without the unit.
func (s Scale) Time(d time.Duration) string { return significant(float64(d) / s.size) }

// Bytes writes a size: "512 B", "12.3 kB", "123 MB", "1.23 GB".
func Bytes(n int64) string {
	s := fitting(sizes, math.Abs(float64(n)))
	if s.size == 1 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return s.Size(n) + " " + s.Unit
}

// MB writes a size in megabytes without the unit, for a column: "123".
func MB(n int64) string { return significant(float64(n) / megabyte) }

// Duration writes a duration: "42.0 µs", "12.3 ms", "1.23 s", "2m5s".
func Duration(d time.Duration) string {
	if d.Abs() >= 100*time.Second {
		return d.Round(time.Second).String()
	}
	s := timeScale(d.Abs())
	return s.Time(d) + " " + s.Unit
}

// Millis writes a duration in milliseconds without the unit, for a column.
func Millis(d time.Duration) string { return significant(float64(d) / float64(time.Millisecond)) }

// Moment writes a time since a start in milliseconds without the unit, for a column. Long
// times are exact to the millisecond, by which the moment is found again.
func Moment(d time.Duration) string {
	if d.Abs() < time.Second {
		return Millis(d)
	}
	return Count(d.Round(time.Millisecond).Milliseconds())
}

// Count writes a whole number: "1,234".
func Count[T int | int64 | uint64 | uint32](n T) string { return grouped(fmt.Sprint(n)) }

// Number writes a number without a unit, such as a factor or a rate: "0.02", "3.1", "1,370".
func Number(v float64) string {
	if a := math.Abs(v); 0 < a && a < 0.0005 {
		return significant(v)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return Unknown
	}
	whole, decimals, fraction := strings.Cut(strconv.FormatFloat(rounded, 'f', -1, 64), ".")
	if fraction {
		return grouped(whole) + "." + decimals
	}
	return grouped(whole)
}

// Percent writes a share of a hundred: "<0.1 %", "12.3 %", "100 %".
func Percent(p float64) string { return Share(p) + " %" }

// Share writes a share of a hundred without the unit, for a column.
func Share(p float64) string {
	switch {
	case p > 0 && p < 0.05:
		return "<0.1"
	case p == 0 || p >= 99.95:
		return fixed(p, 0)
	default:
		return fixed(p, 1)
	}
}

// significant writes v with three significant digits and at most three
// decimals.
func significant(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 0.0005:
		return "<0.001"
	case a < 0.9995:
		return fixed(v, 3)
	case a < 9.995:
		return fixed(v, 2)
	case a < 99.95:
		return fixed(v, 1)
	case a < 1000:
		return fixed(math.Round(v), 0)
	default:
		digits := math.Pow(10, math.Floor(math.Log10(a))-2)
		return fixed(math.Round(v/digits)*digits, 0)
	}
}

// fixed writes v with a number of decimals, and commas between thousands.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	whole := len(s)
	if decimals > 0 {
		whole -= decimals + 1
	}
	if whole <= 3 {
		return s
	}
	return grouped(s[:whole]) + s[whole:]
}

// grouped puts commas between the thousands of a whole number.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Name returns the name of the value v of a small enumeration, which is of the type typ, or
// typ(v) where v has none.
func Name[T ~uint8](typ string, names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return typ + "(" + strconv.Itoa(int(v)) + ")"
}
