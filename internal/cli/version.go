package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/assets"
	"github.com/gctrail/gctrail/internal/collect"
)

func newVersionCmd(std *stdio) *cobra.Command {
	var withLicences bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of gctrail and of the formats it reads",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			printed := version()
			if withLicences {
				printed = assets.Licenses()
			}
			_, err := fmt.Fprint(std.out, printed)
			return collect.OutputFailed(stdoutName, err)
		},
	}
	cmd.Flags().BoolVar(&withLicences, "licenses", false, "print the licences of third-party software in gctrail instead")
	return cmd
}

// moduleVersion returns the version of the module that gctrail was built from.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// commit returns the commit that gctrail was built from, with its date.
func commit() string {
	settings := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	revision := settings["vcs.revision"]
	if revision == "" {
		return "unknown"
	}
	if date := settings["vcs.time"]; date != "" {
		revision += " of " + date
	}
	if settings["vcs.modified"] == "true" {
		revision += ", with changes"
	}
	return revision
}

// version returns the output of gctrail --version.
func version() string {
	return fmt.Sprintf(`gctrail %s
commit  %s
built   with %s for %s/%s
reads   .netperf version 3, .nettrace versions 4 (and 5) and 6, .etl: plain, gzip, zstd, xz or zip;
        LTTng CTF 1.8 and CTF 2: folders, zip or tar
`, moduleVersion(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
