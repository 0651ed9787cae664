package nettrace

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gctrail/gctrail/internal/nettracetest"
)

// TestFlippedBits flips each bit of the head of a trace, and some of the rest. A
// bit of an event or block must not make the trace longer unless that is reported as
// damage, nor make it lose more events than the numbers of one thread can count.
func TestFlippedBits(t *testing.T) {
	const head = 112 * 8
	flips := 500
	if testing.Short() {
		flips = 100
	}
	for _, name := range []string{"net10-wks-web-collect.nettrace", "net21-win-x86-objver3.netperf"} {
		data := nettracetest.Gunzip(t, "../testdata/"+name+".gz")
		_, whole := readAll(t, data)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range head + flips {
			bit := i
			if i >= head {
				bit = head + rng.IntN(8*len(data)-head)
			}
			flipped := bytes.Clone(data)
			flipped[bit/8] ^= 1 << (bit % 8)
			r := NewReader(bytes.NewReader(flipped), Options{})
			var failed error
			for _, failed = range r.Events() {
			}
			if failed != nil {
				continue
			}
			if longer := r.Info().Last > whole.Info().Last*11/10; longer && i >= head && r.Loss().Damaged == 0 {
				t.Errorf("%s, bit %d of byte %d: it lasts %v", name, bit%8, bit/8, r.Info().Last)
			}
			if r.Loss().Damaged > 0 && r.Loss().Events > 1000 {
				t.Errorf("%s, bit %d of byte %d: %d events lost", name, bit%8, bit/8, r.Loss().Events)
			}
		}
	}
}
