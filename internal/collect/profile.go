package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/live"
)

// A Profile is a set of providers with a name.
type Profile struct {
	Name      string
	help      string
	Cost      string // by how much programs were slower: docs/overhead.md; empty if it was not measured
	Cheaper   string // a profile that answers most questions at less cost; empty if the cost is small
	providers []diag.Provider
	rundown   uint64
	stacks    bool
}

// profiles are dotnet-trace's (ListProfilesCommandHandler.cs there). Profiles about the
// collector end with two events only, where dotnet-trace names all methods; they leave
// out stacks, which would be without names then. gc-alloc is gctrail's own.
var profiles = []Profile{
	{
		Name: selection.GCCollect, help: "collections: why, how long, how much",
		Cost: "0 to 8 %; 25 % under constant memory pressure",
		providers: []diag.Provider{
			{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
			{Name: clr.PrivateProvider, Keywords: clr.KeywordGCPrivate, Level: clr.LevelInformational},
		},
		rundown: diag.RundownGC,
	},
	{
		Name: selection.GCTicks, help: "plus how much is allocated, up to the end: what run records",
		Cost: "little on .NET 10; on .NET 8, by up to as much as gc-verbose",
		providers: []diag.Provider{
			{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelVerbose, Except: notOfTicks},
			{Name: clr.PrivateProvider, Keywords: clr.KeywordGCPrivate, Level: clr.LevelInformational},
		},
		rundown: diag.RundownGC,
	},
	{
		Name: selection.GCVerbose, help: "plus what is allocated, pinned and held by handles",
		Cost:      "0 to 25 %; 40 % with many pins, 50 % with many handles",
		Cheaper:   selection.GCCollect + " records why collections happen, how long they take and how much they free",
		providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC | clr.KeywordGCHandle | clr.KeywordException, Level: clr.LevelVerbose}},
		rundown:   diag.RundownGC,
	},
	{
		Name: selection.GCAlloc, help: "what is allocated, by type and stack, with method names",
		providers: []diag.Provider{{
			Name: clr.RuntimeProvider, Keywords: clr.KeywordGC | clr.KeywordAllocationSampling, Level: clr.LevelVerbose,
			Except: notOfAllocations,
		}},
		rundown: diag.RundownMethods, stacks: true,
	},
	{
		Name: "dotnet-common", help: "runtime diagnostics: GC, JIT, exceptions, threads",
		Cost:      "10 % in a web server",
		providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: common, Level: clr.LevelInformational}},
		rundown:   diag.RundownFull,
		stacks:    true,
	},
	{
		Name: "dotnet-sampled-thread-time", help: "stacks of all threads, 100 times a second; disturbs GC figures",
		Cost:      "10 % in a web server",
		Cheaper:   selection.GCCollect + " records how long GCs pause threads",
		providers: []diag.Provider{{Name: clr.SampleProvider, Level: clr.LevelInformational}},
		rundown:   diag.RundownFull,
		stacks:    true,
	},
	{
		Name: "database", help: "commands of ADO.NET and Entity Framework",
		providers: []diag.Provider{
			{Name: "System.Threading.Tasks.TplEventSource", Keywords: 0x80, Level: clr.LevelInformational},
			{
				Name: "Microsoft-Diagnostics-DiagnosticSource", Keywords: 0x3, Level: clr.LevelVerbose,
				Arguments: `FilterAndPayloadSpecs="` + databaseSpecs + `"`,
			},
		},
		rundown: diag.RundownFull,
		stacks:  true,
	},
}

// common are the keywords of dotnet-common.
const common = clr.KeywordGC | clr.KeywordAssemblyLoader | clr.KeywordLoader | clr.KeywordJit | clr.KeywordException |
	clr.KeywordThreading | clr.KeywordJittedMethodILToNativeMap | clr.KeywordCompilation

// notOfTicks are the events that level 5 adds besides allocation ticks. Runtimes before
// .NET 10 cannot leave them out. GCJoin must stay, because the collector raises no event of
// level 5 without it (eventtrace.cpp asks for GCJoin_V2 in place of the level).
var notOfTicks = []uint32{clr.KindFinalizeObject.ID(), clr.KindPinObjectAtGCTime.ID(), clr.KindGCFitBucketInfo.ID()}

// notOfAllocations are the events that level 5 adds and allocations do not need.
// AllocationSampled replaces GCAllocationTick: the runtimes that can leave events out,
// from .NET 10 on, raise it.
var notOfAllocations = []uint32{
	clr.KindGCAllocationTick.ID(), clr.KindFinalizeObject.ID(), clr.KindPinObjectAtGCTime.ID(), clr.KindGCJoin.ID(),
}

// databaseSpecs select the listeners of the DiagnosticSource provider, and the properties
// of their objects to write.
const databaseSpecs = "SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandBefore@Activity1Start:" +
	"-Command;Command.CommandText;ConnectionId;Operation;Command.Connection.ServerVersion;Command.CommandTimeout;" +
	"Command.CommandType;Command.Connection.ConnectionString;Command.Connection.Database;Command.Connection.DataSource;" +
	"Command.Connection.PacketSize\r\n" +
	"SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandAfter@Activity1Stop:\r\n" +
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuting@Activity2Start:" +
	"-Command.CommandText;Command;ConnectionId;IsAsync;Command.Connection.ClientConnectionId;Command.Connection.ServerVersion;" +
	"Command.CommandTimeout;Command.CommandType;Command.Connection.ConnectionString;Command.Connection.Database;" +
	"Command.Connection.DataSource;Command.Connection.PacketSize\r\n" +
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted@Activity2Stop:"

// ProfileHelp describes the profiles, one paragraph each.
func ProfileHelp() string {
	var b strings.Builder
	for i := range profiles {
		p := &profiles[i]
		fmt.Fprintf(&b, "  %s\n      %s\n", p.Name, p.help)
		if p.Cost != "" {
			fmt.Fprintf(&b, "      slower by %s\n", p.Cost)
		}
	}
	return b.String()
}

// ProfileNames returns the names of the profiles.
func ProfileNames() []string {
	return text.Each(profiles, func(p *Profile) string { return p.Name })
}

// A Request selects the events of a session.
type Request struct {
	Profiles  []string
	Providers Providers
	CLREvents selection.Keywords
	CLRLevel  selection.Level
	BufferMB  uint32
	Rundown   string // "true", "false", or as the profiles have it
	Requests  bool   // also the spans of the program's requests
}

// Config returns the session's config. A named provider takes precedence over the
// profiles', and the profiles' over --clrevents, as in dotnet-trace; ignored reports that
// the latter were left out.
func (r *Request) Config() (config diag.Config, ignored bool) {
	var all Providers
	for _, p := range r.Providers {
		all.add(p)
	}
	config = diag.Config{BufferMB: r.BufferMB, Rundown: diag.RundownGC, NoStacks: len(r.Providers) == 0 && r.CLREvents == 0}
	for i := range profiles {
		p := &profiles[i]
		if !r.asksFor(p) {
			continue
		}
		for _, of := range p.providers {
			all.add(of)
		}
		config.Rundown |= p.rundown
		if p.stacks {
			config.NoStacks = false
		}
	}
	if r.Requests {
		all.add(live.Requests())
	}
	if r.CLREvents != 0 {
		p := diag.Provider{Name: clr.RuntimeProvider, Keywords: uint64(r.CLREvents), Level: clr.LevelInformational}
		if r.CLRLevel.Given {
			p.Level = r.CLRLevel.Max
		}
		ignored = !all.add(p)
	}
	switch r.Rundown {
	case "true":
		config.Rundown, config.NoStacks = diag.RundownFull, false
	case "false":
		config.Rundown = 0
	}
	config.Providers = all
	return config, ignored
}

// asksFor reports whether a profile is requested: by default, the first.
func (r *Request) asksFor(p *Profile) bool {
	if len(r.Profiles) > 0 {
		return slices.Contains(r.Profiles, p.Name)
	}
	return p == &profiles[0] && len(r.Providers) == 0 && r.CLREvents == 0
}

// Costly returns the requested profiles that slow programs down, and for which a cheaper
// one answers most questions.
func (r *Request) Costly() []*Profile {
	var found []*Profile
	for i := range profiles {
		if p := &profiles[i]; p.Cheaper != "" && r.asksFor(p) {
			found = append(found, p)
		}
	}
	return found
}

// NamesAllocations reports whether a config requests allocations, with stacks and the
// names of their methods.
func NamesAllocations(config *diag.Config) bool {
	providers := Providers(config.Providers)
	p := providers.Find(clr.RuntimeProvider)
	if p == nil || config.NoStacks || config.Rundown&diag.RundownMethods != diag.RundownMethods {
		return false
	}
	return p.Keywords&clr.KeywordGC != 0 && p.Level >= clr.LevelVerbose || p.Keywords&clr.KeywordAllocationSampling != 0
}

// AsksForCollections reports whether a config requests events of collections.
func AsksForCollections(config *diag.Config) bool {
	providers := Providers(config.Providers)
	p := providers.Find(clr.RuntimeProvider)
	return p != nil && p.Keywords&clr.KeywordGC != 0 && (p.Level == levelLogAlways || p.Level >= clr.LevelInformational)
}
