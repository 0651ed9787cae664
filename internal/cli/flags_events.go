package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/provider"
	"github.com/gctrail/gctrail/trace"
)

// An eventFilter narrows the kinds of events that a command takes.
type eventFilter struct {
	names     wordList
	providers wordList
	keywords  provider.Keywords
	level     provider.Level
}

func (f *eventFilter) addFlags(std *stdio, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.names, "name", "only events of these names, without version, as in GCStart")
	flags.Var(&f.providers, "provider", "only events of these providers")
	flags.Var(&f.keywords, "keywords", "only events with one of these keywords: names joined by +, as in gc+gchandle, or hexadecimal")
	flags.Var(&f.level, "level", "only events of this level or a more severe one: 0 to 5, or critical, error, warning, informational, verbose")
	std.complete(cmd, "keywords", provider.KeywordNames())
	std.complete(cmd, "level", provider.LevelNames[1:])
}

// given reports whether the filter leaves anything out.
func (f *eventFilter) given() bool {
	return len(f.names) > 0 || len(f.providers) > 0 || f.keywords != 0 || f.level.Given
}

// wants reports whether events of a kind are asked for.
func (f *eventFilter) wants(d *trace.Descriptor, name string) bool {
	return (len(f.names) == 0 || slices.Contains(f.names, name)) &&
		(len(f.providers) == 0 || slices.ContainsFunc(f.providers, func(p string) bool { return strings.EqualFold(p, d.Provider) })) &&
		(f.keywords == 0 || d.Keywords&uint64(f.keywords) != 0) &&
		(!f.level.Given || d.Level <= f.level.Max)
}
