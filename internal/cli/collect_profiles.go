package cli

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
)

// A profile is a set of providers with a name.
type profile struct {
	name      string
	help      string
	cost      string // by how much programs were slower: docs/overhead.md; empty where it was not measured
	cheaper   string // what answers most questions at less cost; empty where the cost is small
	providers []diag.Provider
	rundown   uint64
}

// profiles are dotnet-trace's (ListProfilesCommandHandler.cs there). Those about
// the collector end with two events only, where dotnet-trace names all methods;
// stacks, which would be without names then, are left out.
var profiles = []profile{
	{
		name: "gc-collect", help: "collections: why, how long, how much",
		cost: "0 to 8 %; 25 % under constant memory pressure",
		providers: []diag.Provider{
			{Name: clr.RuntimeProvider, Keywords: 0x1, Level: levelInformational},
			{Name: clr.PrivateProvider, Keywords: 0x1, Level: levelInformational},
		},
		rundown: diag.RundownGC,
	},
	{
		name: "gc-verbose", help: "with what is allocated, pinned and held by handles",
		cost:      "0 to 25 %; 40 % with many pins, 50 % with many handles",
		cheaper:   "gc-collect tells why collections happen, how long they take and how much they free",
		providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 0x8003, Level: levelVerbose}},
		rundown:   diag.RundownGC,
	},
	{
		name: "dotnet-common", help: "runtime diagnostics: GC, JIT, exceptions, threads",
		cost:      "10 % in a web server",
		providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 0x100003801D, Level: levelInformational}},
		rundown:   diag.RundownFull,
	},
	{
		name: "dotnet-sampled-thread-time", help: "stacks of all threads, 100 times a second; disturbs GC figures",
		cost:      "10 % in a web server",
		cheaper:   "gc-collect tells how long the collector stops threads",
		providers: []diag.Provider{{Name: sampleProfiler, Level: levelInformational}},
		rundown:   diag.RundownFull,
	},
	{
		name: "database", help: "commands of ADO.NET and Entity Framework",
		providers: []diag.Provider{
			{Name: "System.Threading.Tasks.TplEventSource", Keywords: 0x80, Level: levelInformational},
			{
				Name: "Microsoft-Diagnostics-DiagnosticSource", Keywords: 0x3, Level: levelVerbose,
				Arguments: `FilterAndPayloadSpecs="` + databaseSpecs + `"`,
			},
		},
		rundown: diag.RundownFull,
	},
}

// databaseSpecs tell the DiagnosticSource provider which listeners to hear, and
// what of their objects to write.
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

func profileHelp() string {
	var b strings.Builder
	for i := range profiles {
		p := &profiles[i]
		fmt.Fprintf(&b, "  %-27s %s\n", p.name, p.help)
		if p.cost != "" {
			fmt.Fprintf(&b, "  %-27s slower by %s\n", "", p.cost)
		}
	}
	return b.String()
}

// warnOfCost says what the profiles that are asked for are likely to cost, where
// that is much, and what would cost less.
func (o *collectOptions) warnOfCost(std *stdio) {
	for i := range profiles {
		if p := &profiles[i]; p.cheaper != "" && o.asksFor(p) {
			std.warn("gctrail", fmt.Sprintf("%s can slow the process down: by %s; at little cost, %s", p.name, p.cost, p.cheaper))
		}
	}
}

func profileNames() []string {
	names := make([]string, len(profiles))
	for i := range profiles {
		names[i] = profiles[i].name
	}
	return names
}

// config is what the runtime is asked for. A provider that is named takes
// precedence over the profiles', and those over --clrevents, as in dotnet-trace;
// ignored says that the latter were left out.
func (o *collectOptions) config() (config diag.Config, ignored bool) {
	var all providerList
	for _, p := range o.providers {
		all.add(p)
	}
	config = diag.Config{BufferMB: uint32(o.buffer), Rundown: diag.RundownGC, NoStacks: len(o.providers) == 0 && o.clrEvents == 0}
	for i := range profiles {
		p := &profiles[i]
		if !o.asksFor(p) {
			continue
		}
		for _, provider := range p.providers {
			all.add(provider)
		}
		if p.rundown == diag.RundownFull {
			config.Rundown, config.NoStacks = p.rundown, false
		}
	}
	if o.clrEvents != 0 {
		p := diag.Provider{Name: clr.RuntimeProvider, Keywords: uint64(o.clrEvents), Level: levelInformational}
		if o.clrLevel.set {
			p.Level = o.clrLevel.max
		}
		ignored = !all.add(p)
	}
	switch o.rundown.value {
	case "true":
		config.Rundown, config.NoStacks = diag.RundownFull, false
	case "false":
		config.Rundown = 0
	}
	config.Providers = all
	return config, ignored
}

// asksFor says whether a profile is asked for: where nothing is, the first.
func (o *collectOptions) asksFor(p *profile) bool {
	if len(o.profiles.values) > 0 {
		return o.profiles.allows(p.name)
	}
	return p == &profiles[0] && len(o.providers) == 0 && o.clrEvents == 0
}
