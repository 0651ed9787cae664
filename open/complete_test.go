package open_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// TestComplete reads descriptions of GCStart. Parts that one-collect leaves out are
// filled in before Want is called; existing ones are kept, because runtimes write all of
// them.
func TestComplete(t *testing.T) {
	const def = "metadata\n  def id=1 provider=Microsoft-Windows-DotNETRuntime event=1"
	for _, test := range []struct {
		name, text string
		want       trace.Descriptor
	}{
		{"V6", "nettrace v6\n" + def, trace.Descriptor{Level: 4, Keywords: 1, Opcode: 1}},
		{"V6, told", "nettrace v6\n" + def + " level=5 keywords=2 opcode=3", trace.Descriptor{Level: 5, Keywords: 2, Opcode: 3}},
		{"V4", "nettrace v4\n" + def, trace.Descriptor{}},
	} {
		var got trace.Descriptor
		in, err := open.Reader(bytes.NewReader(tracetest.MustNettrace(t, test.text)), test.name, open.Options{
			Want: func(d *trace.Descriptor) bool { got = *d; return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range in.Source.Events() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got.Level != test.want.Level || got.Keywords != test.want.Keywords || got.Opcode != test.want.Opcode {
			t.Errorf("%s: level %d, keywords %#x, opcode %d", test.name, got.Level, got.Keywords, got.Opcode)
		}
	}
}
