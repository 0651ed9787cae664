package units

import "testing"

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{
		"500MB": 500_000_000, "1.5 GiB": 3 << 29, "2kb": 2000, "0B": 0, "12B": 12, "1TiB": 1 << 40,
	} {
		if got, ok := ParseBytes(s); !ok || got != want {
			t.Errorf("%s: %d, %t, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "B", "10", "10m", "-1MB", "1e9TB", "NaNMB", "InfGB", "5 apples", "MB5"} {
		if got, ok := ParseBytes(s); ok {
			t.Errorf("%q is read as %d", s, got)
		}
	}
}
