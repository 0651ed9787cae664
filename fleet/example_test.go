package fleet_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gctrail/gctrail/fleet"
)

// This lists the pods of a service whose collections paused most. The share of pauses is
// unknown where no time was watched.
func ExampleTop() {
	store, err := fleet.Open("http://user@clickhouse.example:8123/gctrail", os.Getenv("CLICKHOUSE_PASSWORD"))
	if err != nil {
		log.Fatal(err)
	}
	shop, err := fleet.ParseTerm(fleet.Collections(), "k8s_pod=shop-*")
	if err != nil {
		log.Fatal(err)
	}
	groups, err := fleet.Top(context.Background(), store, &fleet.Filter{Where: []fleet.Term{shop}}, []string{"k8s_pod"}, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range groups {
		share := "-"
		if percent, known := g.PauseShare(); known {
			share = fmt.Sprintf("%.1f %%", percent)
		}
		fmt.Println(g.Names[0], g.Collections, g.Pause, share)
	}
}

func ExampleParseTerm() {
	term, err := fleet.ParseTerm(fleet.Collections(), "pause_ms>=50")
	fmt.Println(term.Column, err)
	_, err = fleet.ParseTerm(fleet.Collections(), "pause_length>=50")
	fmt.Println(err)
	// Output:
	// pause_ms <nil>
	// no column "pause_length" in table gc
}
