package units_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

func TestUnits(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{units.Bytes(0), "0 B"},
		{units.Bytes(999), "999 B"},
		{units.Bytes(12_345), "12.3 kB"},
		{units.Bytes(1_234_560_000), "1,234.6 MB"},
		{units.Bytes(12_345_678_901), "12.3 GB"},
		{units.Bytes(-1_500_000), "-1.5 MB"},
		{units.MB(123_456_789_000), "123,456.8"},
		{units.Duration(0), "0 ms"},
		{units.Duration(42 * time.Microsecond), "0.042 ms"},
		{units.Duration(420 * time.Microsecond), "0.42 ms"},
		{units.Duration(12345 * time.Microsecond), "12.3 ms"},
		{units.Duration(456 * time.Millisecond), "456 ms"},
		{units.Duration(1234 * time.Millisecond), "1.23 s"},
		{units.Duration(474 * time.Second), "7m54s"},
		{units.Millis(4567 * time.Millisecond), "4,567"},
		{units.Count(1234567), "1,234,567"},
		{units.Count(-123456), "-123,456"},
		{units.Percent(0.004), "0.004 %"},
		{units.Percent(0.00001), "<0.001 %"},
		{units.Percent(39.25), "39.2 %"},
		{units.Percent(100), "100 %"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
