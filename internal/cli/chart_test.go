package cli

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/internal/extent"
)

// TestPicture holds the picture in the README to what report draws; -update draws it
// anew.
func TestPicture(t *testing.T) {
	const path = "../../docs/images/report.svg"
	drawn := filepath.Join(t.TempDir(), "report.svg")
	if extent.Update() {
		drawn = path
	}
	report80(t, "--chart", drawn, "../../testdata/net9-srv-datas-web-collect.nettrace.gz")
	got, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is old: run go test ./internal/cli -run TestPicture -update\n%s", path, diff)
	}
}

func TestChartFlag(t *testing.T) {
	trace, dir := "../../testdata/net10-wks-web-collect.nettrace.gz", t.TempDir()
	drawn := filepath.Join(dir, "x.PNG")
	report80(t, "--chart", drawn, "--from", "1s", "--to", "2s", trace)
	f, err := os.Open(drawn)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{
		{"report", "--chart", filepath.Join(dir, "x.gif"), trace},
		{"report", "--chart", filepath.Join(dir, "x.svg"), trace, trace},
	} {
		if _, talk, code := on(t, 80, args...); code != exitUsage {
			t.Errorf("%v: exit %d: %s", args, code, talk)
		}
	}
	if _, talk, code := on(t, 80, "report", "--chart", trace, trace); code == exitDone {
		t.Errorf("the trace was written over: %s", talk)
	}
}
