package live_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/live"
)

// This prints the pauses of a process as they happen, until it ends.
func ExampleFollow() {
	ctx := context.Background()
	process, err := diag.Find(ctx, 4711)
	if err != nil {
		log.Fatal(err)
	}
	for u, err := range live.Follow(ctx, process, live.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		if c := u.Collection; c != nil {
			fmt.Printf("gen%v for %v: %v\n", c.Generation, c.Reason, c.Pause())
		}
	}
}
