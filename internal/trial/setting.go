package trial

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A knob is a setting of the collector that gctrail knows.
type knob struct {
	name     string // of the environment variable, without its prefix
	property string // in runtimeconfig.json; empty if there is none
	boolean  bool   // the property is true or false
	text     bool   // the value is no number
	server   bool   // only server GC reads it
	since    string // the first runtime that reads it or its property, if that is after .NET 5; empty otherwise
}

// knobs are the settings, from gcconfig.h and clrconfignames.h of .NET 10, the runtime's
// documentation, and the release notes of .NET 11.
var knobs = []knob{
	{name: "gcServer", property: "System.GC.Server", boolean: true},
	{name: "gcConcurrent", property: "System.GC.Concurrent", boolean: true},
	{name: "GCgen0size"},
	{name: "GCgen1size"},
	{name: "GCGen0MaxBudget", property: "System.GC.Gen0MaxBudget", since: ".NET 10 in runtimeconfig.json"},
	{name: "GCLOHThreshold", property: "System.GC.LOHThreshold"},
	{name: "GCHeapCount", property: "System.GC.HeapCount", server: true},
	{name: "GCMaxHeapCount", server: true},
	{name: "GCHeapAffinitizeMask", property: "System.GC.HeapAffinitizeMask", server: true},
	{name: "GCHeapAffinitizeRanges", property: "System.GC.HeapAffinitizeRanges", server: true, text: true},
	{name: "GCNoAffinitize", property: "System.GC.NoAffinitize", boolean: true, server: true},
	{name: "GCHeapHardLimit", property: "System.GC.HeapHardLimit"},
	{name: "GCHeapHardLimitPercent", property: "System.GC.HeapHardLimitPercent"},
	{name: "GCHighMemPercent", property: "System.GC.HighMemoryPercent"},
	{name: "GCConserveMemory", property: "System.GC.ConserveMemory", since: ".NET 6"},
	{name: "GCRetainVM", property: "System.GC.RetainVM", boolean: true},
	{name: "GCRegionSize", property: "System.GC.RegionSize", since: ".NET 7"},
	{name: "GCRegionRange", property: "System.GC.RegionRange", since: ".NET 7"},
	{name: "GCDynamicAdaptationMode", property: "System.GC.DynamicAdaptationMode", server: true, since: ".NET 8"},
	{name: "GCDTargetTCP", property: "System.GC.DTargetTCP", server: true, since: ".NET 9"},
	{name: "GCDGen0GrowthPercent", property: "System.GC.DGen0GrowthPercent", server: true, since: ".NET 10"},
	{name: "GCTrimYoungestKeepPercent", since: ".NET 11"},
	{name: "GCName", property: "System.GC.Name", text: true},
	{name: "GCPath", property: "System.GC.Path", text: true, since: ".NET 9"},
}

// knobOf returns the knob of a variable, whose name the runtime reads in any case on Windows
// only; false if gctrail does not know it.
func knobOf(name string) (knob, bool) {
	i := slices.IndexFunc(knobs, func(k knob) bool { return strings.EqualFold(k.name, name) })
	if i < 0 {
		return knob{}, false
	}
	return knobs[i], true
}

// variableName matches names of settings.
var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// ParseSetting reads a candidate: settings with their values, with commas between them, as in
// "GCgen0size=64M,gcConcurrent=0". Names may have the prefix of the environment variables.
func ParseSetting(s string) (Setting, error) {
	setting := Setting{}
	var names []string
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		for _, prefix := range []string{"DOTNET_", "COMPlus_"} {
			name = strings.TrimPrefix(name, prefix)
		}
		if !ok || !variableName.MatchString(name) {
			return Setting{}, fmt.Errorf("%q is no setting: write NAME=VALUE, as in GCgen0size=64M; several of one candidate have commas between them", part)
		}
		known, ok := knobOf(name)
		if ok {
			name = known.name // as the runtime spells it, because elsewhere than on Windows only that is read
		}
		if slices.ContainsFunc(setting.Variables, func(v Variable) bool { return v.Name == name }) {
			return Setting{}, fmt.Errorf("%s is set twice in one candidate", name)
		}
		v := Variable{Name: name, Value: value}
		if !known.text {
			number, err := units.ParseSetting(value)
			if err != nil {
				return Setting{}, fmt.Errorf("%s: %w", name, err)
			}
			v.Value = number.Hex()
			_, v.Text, _ = strings.Cut(number.String(), ", ")
		} else if value == "" {
			return Setting{}, errors.New(name + ": the value is empty")
		}
		setting.Variables = append(setting.Variables, v)
		names = append(names, name+"="+strings.TrimSpace(value))
	}
	setting.Name = strings.Join(names, ",")
	return setting, nil
}

// Environment returns the variables of the setting: "DOTNET_GCgen0size=0x4000000".
func (s *Setting) Environment() []string {
	return text.Each(s.Variables, func(v *Variable) string { return "DOTNET_" + v.Name + "=" + v.Value })
}

// A Property is a line of runtimeconfig.json.
type Property struct {
	Name  string
	Value string // as JSON
}

// Properties returns the setting's lines in runtimeconfig.json; without are the variables
// for which there is no property.
func (s *Setting) Properties() (all []Property, without []string) {
	for _, v := range s.Variables {
		k, ok := knobOf(v.Name)
		if !ok || k.property == "" {
			without = append(without, v.Name)
			continue
		}
		value := strconv.Quote(v.Value)
		if n, err := strconv.ParseUint(strings.TrimPrefix(v.Value, "0x"), 16, 64); err == nil && !k.text {
			value = strconv.FormatUint(n, 10)
			if k.boolean {
				value = strconv.FormatBool(n != 0)
			}
		}
		all = append(all, Property{k.property, value})
	}
	return all, without
}

// RuntimeConfig returns the setting as runtimeconfig.json has it; empty if it lacks a property
// for one of the variables.
func (s *Setting) RuntimeConfig() string {
	all, without := s.Properties()
	if len(without) > 0 || len(all) == 0 {
		return ""
	}
	lines := text.Each(all, func(p *Property) string { return strconv.Quote(p.Name) + ": " + p.Value })
	return `{"runtimeOptions": {"configProperties": {` + strings.Join(lines, ", ") + `}}}`
}

// Manifest returns the setting as a container of a Kubernetes manifest has it.
func (s *Setting) Manifest() string {
	lines := []string{"env:"}
	for _, v := range s.Variables {
		lines = append(lines, "- name: DOTNET_"+v.Name, "  value: "+strconv.Quote(v.Value))
	}
	return strings.Join(lines, "\n")
}
