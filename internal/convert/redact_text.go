package convert

import (
	"regexp"
	"slices"
	"strings"
)

// outOfMemory is the exception that reports count.
const outOfMemory = "System.OutOfMemoryException"

func (r *Redactor) exception(name string) string {
	if name == outOfMemory {
		return name
	}
	return r.typeName(name)
}

// sharedVersion matches the version of a shared runtime in a path: three numbers, and the
// words with which .NET marks its previews.
var sharedVersion = regexp.MustCompile(`[/\\]Microsoft\.NETCore\.App[/\\](\d{1,3}\.\d{1,3}\.\d{1,6})(-(?:alpha|preview|rc|rtm|servicing)[\d.-]{0,20})?[^/\\]*[/\\]`)

// versionOf returns the part of a path that gives the runtime's version, empty if there
// is none.
func versionOf(path string) string {
	m := sharedVersion.FindStringSubmatch(path)
	if m == nil {
		return ""
	}
	return "/Microsoft.NETCore.App/" + m[1] + strings.TrimRight(m[2], ".-") + "/"
}

// platforms are the values that the runtime writes (ep-rt-coreclr.h).
var platforms = []string{
	"Windows", "macOS", "Linux", "FreeBSD", "iOS", "tvOS", "Android", "Browser", "Unknown",
	"x86", "x64", "arm32", "arm64", "s390x", "loongarch64", "riscv64", "ppc64le",
}

func (r *Redactor) platform(s string) string {
	if slices.Contains(platforms, s) {
		return s
	}
	return r.Name(s)
}

// settingNames are the GC's settings that .NET documents or that its tools use, in lower
// case, as they follow DOTNET_ or COMPlus_ (gcconfig.h and clrconfignames.h).
var settingNames = strings.Fields(`gcserver gcconcurrent gcheapcount gcheaphardlimit gcheaphardlimitpercent gcheaphardlimitsoh gcheaphardlimitloh
	gcheaphardlimitpoh gcheaphardlimitsohpercent gcheaphardlimitlohpercent gcheaphardlimitpohpercent gcnoaffinitize gcheapaffinitizemask
	gcheapaffinitizeranges gccpugroup gchighmempercent gclargepages gcretainvm gclohthreshold gclohcompact gcname gcpath gcconservemem
	gcconservememory gcgen0size gcgen0maxbudget gcgen1size gcgen0maxsize gcsegmentsize gclatencymode gclatencylevel gcdynamicadaptationmode
	gcdtargettcp gcdgen0growthpercent gcdgen0growthminfactor gcregionsize gcregionrange gctotalphysicalmemory gcforcecompact
	gctrimcommitonlowmemory gccompactratio gcspincountunit gcenabledinstructionsets gcwritebarrier gcstress gcstresslevel gcgen1maxbudget
	gcallowverylargeobjects gcheapaffinitize gcbgcspin gcbgcspincount gcbreakonoom gcconfiglogenabled gclogenabled gclogfile gcprovmodestress
	gcnumheapsmax gcenablespecialregions gcsystemmemory gcvirtualaddress`)

// settingValue matches the values of settings that are numbers.
var settingValue = regexp.MustCompile(`^(?:0[xX])?[0-9a-fA-F]{1,16}$`)

// settings returns the settings of the GC, a line each, as NAME=NUMBER. Other names become
// hashes, and other values "…".
func (r *Redactor) settings(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		prefix, rest, _ := strings.Cut(name, "_")
		if prefix != "DOTNET" && prefix != "COMPlus" || !slices.Contains(settingNames, strings.ToLower(rest)) {
			name = r.Name(name)
		}
		if !settingValue.MatchString(value) {
			value = "…"
		}
		lines[i] = name + "=" + value
	}
	return strings.Join(lines, "\n")
}
