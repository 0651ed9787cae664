package symbol

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestReadPerfMaps: perf maps name code that the trace does not, of the processes that
// have stacks.
func TestReadPerfMaps(t *testing.T) {
	maps := fstest.MapFS{
		"7": {Data: []byte("1000 100 void [app] N.T::fromMap()[QuickJitted]\n2000 10 stub\n")},
		"8": {Data: []byte("1000 100 void [app] N.T::ofNoStack()[QuickJitted]\n")},
		"9": {Data: []byte("no map\n")},
	}
	var opened []uint64
	open := func(pid uint64) (io.ReadCloser, error) {
		opened = append(opened, pid)
		return maps.Open(string(rune('0' + pid)))
	}
	var table Table
	stacks := NewStacks(&table)
	var ids []StackID
	for _, pid := range []uint64{6, 7, 9} {
		m := tracetest.Maker{PID: pid}
		ids = append(ids, stacks.Intern(m.At(1*second, &clr.GCTriggered{}, 0x1010, 0x1080, 0x2008, 0x3000)))
	}
	m := tracetest.Maker{PID: 7}
	table.Feed(m.At(2*second, listed(load(1, 0x1000, 0x20, "listed"))))
	m.PID = 8
	table.Feed(m.At(2*second, listed(load(1, 0x1000, 0x20, "other"))))
	err := table.ReadPerfMaps(open)
	if !errors.Is(err, errNoPerfMap) || !strings.HasPrefix(err.Error(), "perf-9.map: ") {
		t.Errorf("error %v, expected one of perf-9.map", err)
	}
	if len(opened) != 3 || opened[0] != 6 || opened[1] != 7 || opened[2] != 9 {
		t.Errorf("opened the perf maps of %d, expected those of 6, 7 and 9, which have stacks", opened)
	}
	var names []string
	for f := range stacks.Frames(ids[1]) {
		names = append(names, f.String())
	}
	if got, want := strings.Join(names, " "), "N.T.listed(int32) N.T.fromMap() stub ?"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got := table.Resolve(8, 0x1080, time.Second).String(); got != "?" {
		t.Errorf("%s: the perf map of a process without stacks is not needed", got)
	}
}
