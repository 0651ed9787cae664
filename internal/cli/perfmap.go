package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/symbol"
)

// A perfMapFlag names a perf map that commands read with a trace.
type perfMapFlag struct{ path string }

func (m *perfMapFlag) addFlag(flags *pflag.FlagSet) {
	flags.StringVar(&m.path, "perf-map", "", "name methods with this `FILE`, a perf map called perf-PID.map")
}

// perfMapNames are the names of perf maps, which contain the process's id.
var perfMapNames = regexp.MustCompile(`^perf-(\d+)\.map$`)

// read names the methods of a process from the perf map, if the flag is given.
func (m *perfMapFlag) read(table *symbol.Table) error {
	if m.path == "" {
		return nil
	}
	name := perfMapNames.FindStringSubmatch(filepath.Base(m.path))
	if name == nil {
		return &inputError{m.path, errors.New("the name of a perf map is perf-PID.map, with the id of its process")}
	}
	pid, err := strconv.ParseUint(name[1], 10, 64)
	if err != nil {
		return &inputError{m.path, err}
	}
	f, err := os.Open(m.path)
	if err != nil {
		return &inputError{m.path, err}
	}
	defer f.Close()
	if err := table.ReadPerfMap(pid, f); err != nil {
		return &inputError{m.path, err}
	}
	return nil
}
