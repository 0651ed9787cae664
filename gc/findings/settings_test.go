package findings

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestSettings checks the proposed settings: the process's runtime and flavour of GC must
// read them, and their value must change.
func TestSettings(t *testing.T) {
	server, workstation := gc.Some(true), gc.Some(false)
	for _, tt := range []struct {
		setting *setting
		process gc.Process
		want    string // variable and property; empty for none
	}{
		{&gen0Size, gc.Process{Runtime: ".NET 10.0.12"}, "DOTNET_GCgen0size "},
		{&gen0Size, gc.Process{Runtime: ".NET 5.0.17"}, "COMPlus_GCgen0size "},
		{&gen0Size, gc.Process{}, "DOTNET_GCgen0size "},
		{&gen0Size, gc.Process{Settings: &clr.GCSettingsRundown{Gen0MinBudgetConfig: 1 << 28}}, ""},
		{&gen0Size, gc.Process{Settings: &clr.GCSettingsRundown{HardLimit: 1 << 28}}, ""},
		{&gen0MaxBudget, gc.Process{Runtime: ".NET 9.0.20"}, "DOTNET_GCGen0MaxBudget "},
		{&gen0MaxBudget, gc.Process{Runtime: ".NET 10.0.12"}, "DOTNET_GCGen0MaxBudget System.GC.Gen0MaxBudget"},
		{&conserveMemory, gc.Process{Runtime: ".NET 5.0.17"}, ""},
		{&conserveMemory, gc.Process{Runtime: ".NET 8.0.31"}, "DOTNET_GCConserveMemory System.GC.ConserveMemory"},
		{&conserveMemory, gc.Process{Runtime: ".NET Framework 4.8.4515.0"}, "COMPlus_GCConserveMemory "},
		{&conserveMemory, gc.Process{Runtime: ".NET Framework 4.0.30319.34209"}, ""},
		{&gen0Growth, gc.Process{Runtime: ".NET 9.0.20", Server: server}, ""},
		{&gen0Growth, gc.Process{Runtime: ".NET 10.0.12", Server: server}, "DOTNET_GCDGen0GrowthPercent System.GC.DGen0GrowthPercent"},
		{&noDATAS, gc.Process{Runtime: ".NET 9.0.20", Server: workstation}, ""},
		{&serverGC, gc.Process{Runtime: ".NET 9.0.20", Server: workstation}, "DOTNET_gcServer System.GC.Server"},
		{&serverGC, gc.Process{Runtime: ".NET 9.0.20", Server: server}, ""},
		{&concurrentGC, gc.Process{Settings: &clr.GCSettingsRundown{BitSettings: clr.GCSettingsBitsConcurrent}}, ""},
		{&concurrentGC, gc.Process{Runtime: ".NET Core 3.1", Settings: &clr.GCSettingsRundown{}}, "COMPlus_gcConcurrent System.GC.Concurrent"},
		{&highMemPercent, gc.Process{Settings: &clr.GCSettingsRundown{HighMemPercentConfig: 0x60}}, ""},
		{&lohThreshold, gc.Process{Settings: &clr.GCSettingsRundown{LOHThreshold: 85_000}}, "DOTNET_GCLOHThreshold System.GC.LOHThreshold"},
	} {
		s, ok := tt.setting.of(&tt.process)
		if got := s.Variable + " " + s.Property; ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s of %+v: %q, want %q", tt.setting.name, tt.process, got, tt.want)
		}
	}
}

// allSettings lists the settings that do not depend on a process.
var allSettings = []*setting{
	&gen0Size, &gen0MaxBudget, &conserveMemory, &hardLimitPercent, &highMemPercent, &usualHighMem, &lohThreshold, &serverGC, &workstationGC,
	&fewerHeaps, &theseHeaps, &higherLimit, &concurrentGC, &gen0Growth, &noDATAS, &leastConserve,
}

// TestSettingsAreWhole checks that each setting is complete, and that rules name no
// other.
func TestSettingsAreWhole(t *testing.T) {
	known := make(map[*setting]bool)
	for _, s := range allSettings {
		known[s] = true
		if s.effect == "" || s.cost == "" || !strings.HasPrefix(s.value, "0x") || (s.property == "") != (s.json == "") {
			t.Errorf("%+v", s)
		}
	}
	for i := range rules {
		for _, a := range rules[i].advice {
			for _, s := range a.settings {
				if !known[s] {
					t.Errorf("%s names %s, which is not in the table", rules[i].id, s.name)
				}
			}
		}
	}
}
