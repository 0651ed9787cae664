package collect_test

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestSettleSampling: another session begins and ends after one that sampled allocations, and
// after no other one.
func TestSettleSampling(t *testing.T) {
	var began atomic.Int64
	address := dotnettest.Serve(t, "tcp", "127.0.0.1:0", dotnettest.Answering("web", func(net.Conn) { began.Add(1) }))
	client := (&diag.Process{Address: address}).Client()
	for _, c := range []struct {
		provider diag.Provider
		want     int64
	}{
		{diag.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: 5}, 0},
		{diag.Provider{Name: clr.PrivateProvider, Keywords: clr.KeywordAllocationSampling, Level: 5}, 0},
		{diag.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC | clr.KeywordAllocationSampling, Level: 4}, 1},
	} {
		began.Store(0)
		collect.SettleSampling(client, &diag.Config{Providers: []diag.Provider{c.provider}})
		if got := began.Load(); got != c.want {
			t.Errorf("%+v: %d sessions, want %d", c.provider, got, c.want)
		}
	}
}
