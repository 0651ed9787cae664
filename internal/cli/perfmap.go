package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/gctrail/gctrail/symbol"
)

// perfMapNames are the names of perf maps, which contain the process's id.
var perfMapNames = regexp.MustCompile(`^perf-(\d+)\.map$`)

// readPerfMap names the methods of a process from a perf map.
func readPerfMap(table *symbol.Table, path string) error {
	name := perfMapNames.FindStringSubmatch(filepath.Base(path))
	if name == nil {
		return &inputError{path, errors.New("the name of a perf map is perf-PID.map, with the id of its process")}
	}
	pid, err := strconv.ParseUint(name[1], 10, 64)
	if err != nil {
		return &inputError{path, err}
	}
	f, err := os.Open(path)
	if err != nil {
		return &inputError{path, err}
	}
	defer f.Close()
	if err := table.ReadPerfMap(pid, f); err != nil {
		return &inputError{path, err}
	}
	return nil
}

// readPerfMapBeside names the methods of a process from the perf map beside the trace,
// if the trace lists none. A map that was written before the trace began is of an
// earlier process with the same id.
func (s *scanned) readPerfMapBeside(std *stdio, table *symbol.Table, pid uint64) {
	if table.Lists(pid) {
		return
	}
	for _, path := range s.paths {
		of := filepath.Join(filepath.Dir(path), fmt.Sprintf("perf-%d.map", pid))
		if info, err := os.Stat(of); err != nil || !info.Mode().IsRegular() || info.ModTime().Before(s.Info().Start) {
			continue
		}
		if err := readPerfMap(table, of); err != nil {
			std.warn(of, err.Error())
		}
	}
}
