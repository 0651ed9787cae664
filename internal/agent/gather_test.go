package agent

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/gctrail/gctrail/gc"
)

// BenchmarkGather measures a scrape of 100 processes with nine kinds of collections
// each.
func BenchmarkGather(b *testing.B) {
	a, err := New(Options{Config: DefaultConfig()})
	if err != nil {
		b.Fatal(err)
	}
	for id := range 100 {
		attach(a, id, program(id, fmt.Sprint("web-", id)))
		for n := range 200 {
			c := collectionOf(uint32(n+1), n%3, time.Duration(n%60+1)*time.Millisecond)
			c.Kind = gc.Kind(1 + n/3%3)
			collect(a, id, c)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		families, err := a.Gather()
		if err != nil {
			b.Fatal(err)
		}
		out := expfmt.NewEncoder(io.Discard, expfmt.NewFormat(expfmt.TypeOpenMetrics))
		for _, f := range families {
			if err := out.Encode(f); err != nil {
				b.Fatal(err)
			}
		}
	}
}
