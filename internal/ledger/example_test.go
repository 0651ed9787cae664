package ledger_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/internal/ledger"
)

// This prints how the processes of a machine ended. A figure that neither the system nor
// the runtime reported is unknown.
func ExampleList() {
	all, err := ledger.List("/var/lib/gctrail/ledgers")
	if err != nil {
		log.Println(err) // of the unreadable ones
	}
	for _, l := range all {
		verdict := l.Judge()
		fmt.Println(l.Name, l.PID, verdict.Sentence)
		if verdict.Last == nil {
			continue
		}
		if heap, known := verdict.Last.Heap.Get(); known {
			fmt.Println("bytes in the heap after the latest GC:", heap)
		} else {
			fmt.Println("the size of the heap is unknown")
		}
	}
}
