package report

import (
	"errors"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// TestIncompleteText: collections of several processes come in time order.
func TestIncompleteText(t *testing.T) {
	for _, test := range []struct {
		numbers []uint32
		want    string
	}{
		{[]uint32{7}, "collection 7 is incomplete"},
		{[]uint32{9, 7}, "collections 7 and 9 are incomplete"},
		{[]uint32{75, 31, 63}, "3 collections between 31 and 75 are incomplete"},
	} {
		if got := incompleteText(test.numbers); got != test.want {
			t.Errorf("%v: %q, want %q", test.numbers, got, test.want)
		}
	}
}

// TestMissing: why a place cannot be read is said where that is not in the trace itself.
func TestMissing(t *testing.T) {
	for want, err := range map[string]error{
		"1 place could not be read, the first at byte 1,000":                          &trace.FormatError{Err: binread.Malformed("it")},
		"1 place could not be read, the first at byte 1,000 (gzip: invalid checksum)": errors.New("gzip: invalid checksum"),
	} {
		var source tracetest.Source
		source.Lost.AddDamage(trace.Damage{Off: 1000, Err: err})
		if got := Missing(&open.Input{Source: &source}, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRecorded: some events have neither keywords nor levels in their format.
func TestRecorded(t *testing.T) {
	for _, test := range []struct {
		recorded findings.Recorded
		want     string
	}{
		{findings.Recorded{Keywords: clr.KeywordGC, Level: 4}, "gc at level 4"},
		{findings.Recorded{}, "no keywords known"},
	} {
		if got := recorded(&test.recorded, "gc"); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// A described source has a description.
type described struct {
	tracetest.Source
	info trace.Info
}

func (s *described) Info() *trace.Info { return &s.info }

// TestTruncated: only a trace of one file is said to end at a byte of that.
func TestTruncated(t *testing.T) {
	for format, want := range map[string]string{
		"nettrace V4": "the file is truncated at byte 1,000",
		"CTF 1.8":     "the trace is truncated",
	} {
		source := described{info: trace.Info{Format: format}}
		source.Lost.Truncated = true
		if got := Missing(&open.Input{Source: &source, Size: 1000}, nil); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}
