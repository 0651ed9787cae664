package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/collect"
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

// TestDumpedText says what each session of a snapshot was for.
func TestDumpedText(t *testing.T) {
	for sessions, want := range map[int]string{
		1: "snapshot 1 of web 7 took 1.20 s: one session of the runtime requested and recorded it",
		2: "snapshot 1 of web 7 took 1.20 s: one session of the runtime requested it, another recorded it",
	} {
		n := collect.Dumped{Process: &diag.Process{PID: 7, Name: "web"}, Nth: 1, Took: 1200 * time.Millisecond, Sessions: sessions}
		if got := noticeText(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
