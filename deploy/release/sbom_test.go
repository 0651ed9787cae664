package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// The list of this test's own program has all modules that Go notes in it.
func TestModules(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var texts [2][]byte
	for i := range texts {
		path := filepath.Join(t.TempDir(), "bom.json")
		if err := sbom([]string{program, path}); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("the second list is another")
	}
	var got bom
	if err := json.Unmarshal(texts[0], &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Component.Name != "github.com/gctrail/gctrail" || len(got.Metadata.Component.Hashes) != 1 {
		t.Errorf("%+v", got.Metadata.Component)
	}
	if want := len(info.Deps) + 1; len(got.Components) != want || len(got.Dependencies[0].DependsOn) != want {
		t.Errorf("%d components, %d dependencies, want %d", len(got.Components), len(got.Dependencies[0].DependsOn), want)
	}
}

func TestPackageURL(t *testing.T) {
	for want, m := range map[string]debug.Module{
		"pkg:golang/golang.org/x/sys@v0.49.0":                  {Path: "golang.org/x/sys", Version: "v0.49.0"},
		"pkg:golang/github.com/burntsushi/toml@v1.6.0":         {Path: "github.com/BurntSushi/toml", Version: "v1.6.0"},
		"pkg:golang/example.org/a@v2.0.0%2Bincompatible":       {Path: "example.org/a", Version: "v2.0.0+incompatible"},
		"pkg:golang/github.com/gctrail/gctrail@v0.1.0-rc.1":    {Path: "github.com/gctrail/gctrail", Version: "v0.1.0-rc.1"},
		"pkg:golang/github.com/gctrail/gctrail@v0.1.0%2Bdirty": {Path: "github.com/gctrail/gctrail", Version: "v0.1.0+dirty"},
	} {
		if got := packageURL(m); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestNoProgram(t *testing.T) {
	if err := sbom([]string{"sbom_test.go", filepath.Join(t.TempDir(), "bom.json")}); err == nil {
		t.Error("a text has modules")
	}
}
