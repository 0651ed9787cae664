package diag_test

import (
	"testing"

	"github.com/gctrail/gctrail/diag"
)

func TestSwitchString(t *testing.T) {
	for s, want := range map[diag.Switch]string{diag.Unknown: "unknown", diag.Off: "off", diag.On: "on", 3: "Switch(3)", 255: "Switch(255)"} {
		if got := s.String(); got != want {
			t.Errorf("%d: %q, want %q", uint8(s), got, want)
		}
		if known := s == diag.Off || s == diag.On; (s.Bool() != nil) != known {
			t.Errorf("%v: Bool returns %v", s, s.Bool())
		}
	}
}
