package units_test

import (
	"math"
	"testing"

	"github.com/gctrail/gctrail/internal/units"
)

func TestParseSetting(t *testing.T) {
	for in, want := range map[string]struct {
		value uint64
		text  string
	}{
		"4000000":          {64 << 20, "0x4000000, 64 MiB"},
		"0x4000000":        {64 << 20, "0x4000000, 64 MiB"},
		"0X30d40":          {200_000, "0x30D40, 200 kB"},
		"64M":              {64 << 20, "0x4000000, 64 MiB"},
		"64 m":             {64 << 20, "0x4000000, 64 MiB"},
		"64MiB":            {64 << 20, "0x4000000, 64 MiB"},
		"64MB":             {64_000_000, "0x3D09000, 64 MB"},
		"1.5G":             {3 << 29, "0x60000000, 1,536 MiB"},
		"200kB":            {200_000, "0x30D40, 200 kB"},
		"10":               {16, "0x10, 16"},
		"1B":               {27, "0x1B, 27"},
		"80%":              {80, "0x50, 80 %"},
		" 80 % ":           {80, "0x50, 80 %"},
		"true":             {1, "0x1, true"},
		"False":            {0, "0x0, false"},
		"0":                {0, "0x0, 0"},
		"14C09":            {85_001, "0x14C09, 85,001"},
		"ffffffffffffffff": {math.MaxUint64, "0xFFFFFFFFFFFFFFFF, 18446744073709551615"},
	} {
		got, err := units.ParseSetting(in)
		if err != nil || got.Value != want.value || got.String() != want.text {
			t.Errorf("%q: %d, %q, %v, want %d, %q", in, got.Value, got, err, want.value, want.text)
		}
	}
	for _, in := range []string{"", "0x", "-1", "x", "64 apples", "101%", "1.5%", "%", "10000000000000000", "1e9T", "NaNM", "-5M", "yes"} {
		if got, err := units.ParseSetting(in); err == nil {
			t.Errorf("%q is read as %s", in, got)
		}
	}
}
