package units

import (
	"fmt"
	"strconv"
	"strings"
)

// A Setting is the value of a setting of the runtime.
type Setting struct {
	Value uint64
	unit  string // "%", or true or false, where it was given so
}

// settingUnits are the units of sizes in values of settings besides the ones of ParseBytes.
var settingUnits = []Scale{{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}}

// ParseSetting reads the value of a setting of the runtime as environment variables and people
// write it: a plain number is hexadecimal, with or without 0x, as the runtime reads
// DOTNET_GCgen0size (clrconfignative, gcconfig.cpp); "64M" and "64 MiB" are 67,108,864 bytes,
// "64MB" 64,000,000, "80 %" is 80, true and false are 1 and 0. "1B" is hexadecimal.
func ParseSetting(s string) (Setting, error) {
	s = strings.TrimSpace(s)
	for i, word := range []string{"false", "true"} {
		if strings.EqualFold(s, word) {
			return Setting{Value: uint64(i), unit: word}, nil
		}
	}
	if digits, percent := strings.CutSuffix(s, "%"); percent {
		v, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 64)
		if err != nil || v > 100 {
			return Setting{}, fmt.Errorf("%q is no whole percentage from 0 to 100", s)
		}
		return Setting{Value: v, unit: "%"}, nil
	}
	hex := strings.TrimPrefix(strings.ToLower(s), "0x")
	if v, err := strconv.ParseUint(hex, 16, 64); err == nil {
		return Setting{Value: v}, nil
	}
	if v, ok := parseBytes(s, settingUnits); ok {
		return Setting{Value: uint64(v)}, nil
	}
	if v, ok := ParseBytes(s); ok {
		return Setting{Value: uint64(v)}, nil
	}
	return Setting{}, fmt.Errorf("%q is no value of a setting; valid: a hexadecimal number as in DOTNET_ variables (0x4000000), a size (64M, 1.5G), a percentage (80%%), true or false", s)
}

// Hex writes the value as an environment variable has it: "0x4000000".
func (s Setting) Hex() string { return fmt.Sprintf("0x%X", s.Value) }

// String writes the value as an environment variable has it and as people read it:
// "0x4000000, 64 MiB".
func (s Setting) String() string { return s.Hex() + ", " + s.Text() }

// Text writes the value exactly, as people read it: "64 MiB".
func (s Setting) Text() string {
	switch s.unit {
	case "":
		return exactSize(s.Value)
	case "%":
		return strconv.FormatUint(s.Value, 10) + " %"
	default:
		return s.unit
	}
}

// exactSizes are the units in which sizes are written exactly.
var exactSizes = []Scale{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"GB", gigabyte},
	{"MB", megabyte},
	{"kB", kilobyte},
}

// exactSize writes a number that may be a size in the unit that makes it smallest. Binary
// units come first, because most settings are powers of two.
func exactSize(v uint64) string {
	number, unit := v, ""
	for _, u := range exactSizes {
		if size := uint64(u.size); v > 0 && v%size == 0 && v/size < number {
			number, unit = v/size, " "+u.Unit
		}
	}
	if number >= 1<<53 { // beyond the whole numbers that Count can write
		return strconv.FormatUint(number, 10)
	}
	return Count(number) + unit
}
