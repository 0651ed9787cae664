package fleet_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gctrail/gctrail/internal/fleet"
)

// Example lists the services with the most GC pause of the last day.
func Example() {
	store, err := fleet.Open("testdata/history", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, err := fleet.Top(context.Background(), store, &fleet.Filter{From: time.Now().AddDate(0, 0, -1)}, []string{"service_name"}, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range groups {
		share := "an unknown share"
		if pct, known := g.PauseShare().Get(); known {
			share = fmt.Sprintf("%.1f %%", pct)
		}
		fmt.Printf("%s: paused for %v, %s of the time\n", g.Names[0], g.Pause, share)
	}
	// Output:
}
