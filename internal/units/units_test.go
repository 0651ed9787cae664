package units_test

import (
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

func TestUnits(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{units.Bytes(0), "0 B"},
		{units.Bytes(999), "999 B"},
		{units.Bytes(12_345), "12.3 kB"},
		{units.Bytes(999_400_000), "999 MB"},
		{units.Bytes(999_600_000), "1.00 GB"},
		{units.Bytes(1_234_560_000), "1.23 GB"},
		{units.Bytes(12_345_678_901), "12.3 GB"},
		{units.Bytes(-1_500_000), "-1.50 MB"},
		{units.MB(123_456_789_000), "123,000"},
		{units.MB(79_000), "0.079"},
		{units.Duration(0), "0 ms"},
		{units.Duration(42 * time.Microsecond), "42.0 µs"},
		{units.Duration(99_960 * time.Nanosecond), "0.100 ms"},
		{units.Duration(420 * time.Microsecond), "0.420 ms"},
		{units.Duration(12345 * time.Microsecond), "12.3 ms"},
		{units.Duration(456 * time.Millisecond), "456 ms"},
		{units.Duration(999_600 * time.Microsecond), "1.00 s"},
		{units.Duration(1234 * time.Millisecond), "1.23 s"},
		{units.Duration(474 * time.Second), "7m54s"},
		{units.Millis(4567 * time.Millisecond), "4,570"},
		{units.Moment(4567*time.Millisecond + 600*time.Microsecond), "4,568"},
		{units.Moment(12345 * time.Microsecond), "12.3"},
		{units.Count(1234567), "1,234,567"},
		{units.Count(-123456), "-123,456"},
		{units.Number(0), "0"},
		{units.Number(0.01116), "0.0112"},
		{units.Number(0.0001), "<0.001"},
		{units.Number(3.1), "3.1"},
		{units.Number(999.6), "1,000"},
		{units.Number(1374.9), "1,370"},
		{units.Number(-128_437_000), "-128,000,000"},
		{units.Number(math.Inf(1)), "-"},
		{units.Percent(0), "0 %"},
		{units.Percent(0.004), "<0.1 %"},
		{units.Percent(0.42), "0.4 %"},
		{units.Percent(39.25), "39.2 %"},
		{units.Percent(99.96), "100 %"},
		{units.Percent(100), "100 %"},
		{units.SizeScale(999_000_000).Unit, "MB"},
		{units.SizeScale(1_000_000_000).Size(39_200_000), "0.039"},
		{units.SizeScale(12_000).Size(12_000), "0.012"},
		{units.TimeScale(30 * time.Microsecond).Unit, "µs"},
		{units.TimeScale(1559 * time.Millisecond).Time(9390 * time.Microsecond), "0.009"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
