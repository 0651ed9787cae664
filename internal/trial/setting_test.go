package trial

import (
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

func TestParseSetting(t *testing.T) {
	for in, want := range map[string]struct{ name, environment, config string }{
		"GCgen0size=64M":                   {"GCgen0size=64M", "DOTNET_GCgen0size=0x4000000", ""},
		"DOTNET_gcserver=1, GCHeapCount=a": {"gcServer=1,GCHeapCount=a", "DOTNET_gcServer=0x1 DOTNET_GCHeapCount=0xA", `{"runtimeOptions": {"configProperties": {"System.GC.Server": true, "System.GC.HeapCount": 10}}}`},
		"COMPlus_GCConserveMemory=5":       {"GCConserveMemory=5", "DOTNET_GCConserveMemory=0x5", `{"runtimeOptions": {"configProperties": {"System.GC.ConserveMemory": 5}}}`},
		"GCName=libclrgc.so":               {"GCName=libclrgc.so", "DOTNET_GCName=libclrgc.so", `{"runtimeOptions": {"configProperties": {"System.GC.Name": "libclrgc.so"}}}`},
		"TieredPGO=0":                      {"TieredPGO=0", "DOTNET_TieredPGO=0x0", ""},
	} {
		got, err := ParseSetting(in)
		if err != nil || got.Name != want.name || strings.Join(got.Environment(), " ") != want.environment || got.RuntimeConfig() != want.config {
			t.Errorf("%s: %q, %q, %q, %v", in, got.Name, got.Environment(), got.RuntimeConfig(), err)
		}
	}
	for _, in := range []string{"", "GCgen0size", "=1", "GCgen0size=", "GCgen0size=x", "gcServer=1,gcserver=0", "a b=1", "GCName="} {
		if got, err := ParseSetting(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

func TestManifest(t *testing.T) {
	s, err := ParseSetting("GCgen0size=64M")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Manifest(), "env:\n- name: DOTNET_GCgen0size\n  value: \"0x4000000\""; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestIgnored has settings that the runtime replaces or does not read.
func TestIgnored(t *testing.T) {
	p := &gc.Process{Server: gc.Some(false), Concurrent: gc.Some(true), Settings: &clr.GCSettingsRundown{LOHThreshold: 200_000}}
	for in, want := range map[string]string{
		"GCHeapCount=2":        "workstation GC, which the program uses, ignores GCHeapCount",
		"gcServer=1":           "the runtime uses workstation GC",
		"gcServer=0":           "",
		"gcConcurrent=0":       "the runtime uses concurrent GC",
		"GCgen0size=256M":      "workstation GC uses at most 128 MiB from .NET 7 on",
		"GCgen0size=64M":       "",
		"GCLOHThreshold=100kB": "the runtime uses 200 kB instead of 100 kB",
		"GCLOHThreshold=200kB": "",
		"GCgen0sise=64M":       "gctrail knows no setting GCgen0sise; the runtime ignores names that it does not know",
		"TieredPGO=0":          "",
	} {
		s, err := ParseSetting(in)
		if err != nil {
			t.Fatal(err)
		}
		o := Outcomes{Setting: &s, Runs: []Run{{Process: p}}}
		if got := strings.Join(o.ignored(), "; "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestPropose has a process whose large objects cause most of its GCs.
func TestPropose(t *testing.T) {
	in, err := readTrace("../../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		t.Fatal(err)
	}
	p := in.propose()
	var names []string
	for i := range p.Settings {
		s := &p.Settings[i]
		names = append(names, s.Name)
		if s.Why == "" || s.Name == "" || len(s.Variables) == 0 {
			t.Errorf("%+v", s)
		}
	}
	if p.None != "" || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "GCgen0size=") }) || len(names) > maxProposed {
		t.Errorf("%q, %v", p.None, names)
	}
	if p := (&traced{}).propose(); p.None == "" {
		t.Error("a run without GCs has proposals")
	}
}

// TestLargerGen0: a proposed budget is larger than the present budget of gen 0, and no larger than
// the runtime gives.
func TestLargerGen0(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name   string
		budget int64
		of     gc.Process
		want   string
	}{
		{"unknown", 0, gc.Process{}, "GCgen0size=64M"},
		{"small", 6 * mib, gc.Process{}, "GCgen0size=64M"},
		{"of a large cache", 79 * mib, gc.Process{}, "GCgen0size=128M"},
		{"as large as workstation GC has", 128 * mib, gc.Process{}, ""},
		{"nearly that", 110 * mib, gc.Process{}, ""},
		{"of server GC", 79 * mib, gc.Process{Server: gc.Some(true)}, "GCgen0size=512M"},
		{"of server GC, and large", 900 * mib, gc.Process{Server: gc.Some(true)}, ""},
		{"set", 6 * mib, gc.Process{Settings: &clr.GCSettingsRundown{Gen0MinBudgetConfig: 128 * mib}}, ""},
		{"limited", 6 * mib, gc.Process{Settings: &clr.GCSettingsRundown{HardLimit: 500 * mib}}, ""},
	} {
		in := traced{process: &tt.of}
		if tt.budget > 0 {
			in.gen0 = budgets{tt.budget / 2, tt.budget, tt.budget, 2 * tt.budget}
		}
		if got, _ := in.largerGen0(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
