package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// TestSnapshotTextAgreesWithObjects checks that dump and objects state the same number and
// size of the objects in a snapshot.
func TestSnapshotTextAgreesWithObjects(t *testing.T) {
	const path = "../../testdata/net10-wks-allocs-snapshot.nettrace.gz"
	all, _, err := readSnapshots(path)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d snapshots, %v", len(all), err)
	}
	// The first line of objects, as in "web (pid 1): GC 7, 2 objects of 48 B".
	code, listed, said := gctrail(t.Context(), "objects", "--no-retained", path)
	line, _, _ := strings.Cut(listed, "\n")
	count, size, ok := strings.Cut(line[strings.LastIndex(line, ", ")+2:], " of ")
	if code != exitDone || !ok {
		t.Fatalf("exit code %d, %q: %s", code, line, said)
	}
	if says := snapshotText(all[0], gc.Some(time.Second)); !strings.Contains(says, ": "+count+", "+size+", paused") {
		t.Errorf("dump says %q, objects %q", says, line)
	}
}
