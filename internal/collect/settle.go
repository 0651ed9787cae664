package collect

import (
	"context"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
)

const (
	// settleTime bounds how long a runtime is waited for, because nothing is lost but its speed.
	settleTime = 3 * time.Second
)

// Settle begins and ends a session without events, so that a runtime no longer raises what an
// ended session wanted. When one of several sessions ends, the runtime takes its keywords for
// wanted until the next one begins: it goes on to sample allocations for nobody, at nearly the
// same cost, and knows which types it has named.
func Settle(ctx context.Context, client *diag.Client) error {
	s, err := client.Collect(ctx, diag.Config{
		BufferMB: 1, NoStacks: true,
		Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelCritical}},
	})
	if err != nil {
		return err
	}
	return s.Close()
}

// SettleSampling settles a runtime that has ended a session with a config, if the session sampled
// allocations. It fails silently, because the process may have ended.
func SettleSampling(client *diag.Client, config *diag.Config) {
	providers := Providers(config.Providers)
	p := providers.Find(clr.RuntimeProvider)
	if p == nil || p.Keywords&clr.KeywordAllocationSampling == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	_ = Settle(ctx, client)
}
