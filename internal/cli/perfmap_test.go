package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// A perf map beside the trace names methods, unless it was written before the trace.
func TestPerfMapBeside(t *testing.T) {
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, err := range in.Source.Events() { // the first tells when the trace began
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "perf-7.map")
	if err := os.WriteFile(path, []byte("1000 20 void [app] Shop.Cart::Add(int32)[OptimizedTier1]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &scanned{reading: &reading{Source: in.Source, paths: []string{filepath.Join(dir, "app.nettrace")}, in: in}}
	start := in.Source.Info().Start
	for _, c := range []struct {
		name    string
		written time.Time
		pid     uint64
		want    string
	}{
		{"written during the trace", start.Add(time.Second), 7, "Shop.Cart.Add(int32)"},
		{"of another process", start.Add(time.Second), 8, "?"},
		{"of an earlier process", start.Add(-time.Second), 7, "?"},
	} {
		if err := os.Chtimes(path, c.written, c.written); err != nil {
			t.Fatal(err)
		}
		var table symbol.Table
		s.readPerfMapBeside(nil, &table, c.pid)
		if got := table.Resolve(c.pid, 0x1010, 0).String(); got != c.want {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
	}
}
