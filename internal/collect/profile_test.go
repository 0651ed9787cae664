package collect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/selection"
)

var (
	profileFlag = regexp.MustCompile(`--profile[ =]([a-z][a-z-]*(?:,[a-z-]+)*)`)
	maskLiteral = regexp.MustCompile(`DotNETRuntime\w*:0x`)
	providers   = regexp.MustCompile(`"Microsoft-(?:Windows-DotNETRuntime\w*|DotNETCore-SampleProfiler)`)
)

// foreign are profiles of other programs: of dotnet-trace collect-linux, which gctrail reads
// the traces of, and of kubectl debug.
var foreign = []string{"cpu-sampling", "general", "restricted"}

// TestOneTable: help, messages and documents name profiles that exist, and no source but
// the table in clr has keywords of the runtime as numbers, or names of its providers.
func TestOneTable(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git") {
			return filepath.SkipDir
		}
		source := filepath.Ext(path) == ".go"
		if !source && filepath.Ext(path) != ".md" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range profileFlag.FindAllSubmatch(text, -1) {
			for name := range strings.SplitSeq(string(m[1]), ",") {
				seen++
				if name != "" && !slices.Contains(collect.ProfileNames(), name) && !slices.Contains(foreign, name) {
					t.Errorf("%s: there is no profile %q", path, name)
				}
			}
		}
		if !source {
			return nil
		}
		if m := maskLiteral.Find(text); m != nil {
			t.Errorf("%s: %s…: use selection.SpellProvider", path, m)
		}
		if m := providers.Find(text); m != nil && !strings.HasSuffix(path, "s_gen.go") {
			t.Errorf("%s: %s: use the constants of clr", path, m)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Errorf("%d profiles are named, want more", seen)
	}
}

// TestCommon holds dotnet-common to dotnet-trace's number.
func TestCommon(t *testing.T) {
	r := collect.Request{Profiles: []string{"dotnet-common"}}
	config, _ := r.Config()
	if got := config.Providers[0]; got.Name != clr.RuntimeProvider || got.Keywords != 0x100003801D {
		t.Errorf("%s:%#x", got.Name, got.Keywords)
	}
}

// TestSpell: --providers reads the output of selection.SpellProvider.
func TestSpell(t *testing.T) {
	for _, want := range []string{
		"Microsoft-Windows-DotNETRuntime:0x1:4",
		"Microsoft-Windows-DotNETRuntime:0x40000003:5,Microsoft-DotNETCore-SampleProfiler:0x0:4",
	} {
		var l collect.Providers
		if err := l.Set(want); err != nil {
			t.Fatal(err)
		}
		var spelt []string
		for _, p := range l {
			spelt = append(spelt, selection.SpellProvider(p.Name, p.Keywords, p.Level))
		}
		if got := strings.Join(spelt, ","); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
