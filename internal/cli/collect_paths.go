package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/tracefile"
)

// tracePaths gives each trace a path of its own.
type tracePaths struct {
	output string // a file, a folder, or a pattern with {name} or {pid}; empty for names like dotnet-trace's
	folder bool   // output is one
	taken  map[string]bool
}

func newTracePaths(output string) *tracePaths {
	p := &tracePaths{output: output, taken: map[string]bool{}}
	info, err := os.Stat(output)
	p.folder = err == nil && info.IsDir() || output != "" && os.IsPathSeparator(output[len(output)-1])
	return p
}

// single says whether there is room for one trace only.
func (p *tracePaths) single() bool {
	return p.output != "" && !p.folder && !strings.Contains(p.output, "{name}") && !strings.Contains(p.output, "{pid}")
}

// next is the path for the trace of a process: none that was given before, and
// a name that is not the user's own replaces no file.
func (p *tracePaths) next(process *diag.Process, now time.Time) string {
	if p.single() {
		return p.output
	}
	name, pid := fileName(process.Name), strconv.Itoa(cmp.Or(process.PID, process.InnerPID))
	path := strings.NewReplacer("{name}", cmp.Or(name, "process"), "{pid}", pid).Replace(p.output)
	own := p.output == "" || p.folder
	if own {
		path = filepath.Join(p.output, defaultTraceName(name, now))
	}
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext)
	for n := 1; p.taken[path] || own && exists(path); n++ {
		path = stem + "_" + pid + ext
		if n > 1 {
			path = stem + "_" + pid + "_" + strconv.Itoa(n) + ext
		}
	}
	p.taken[path] = true
	return path
}

// makeFolder makes the folder that the traces go to, if it is not there.
func (p *tracePaths) makeFolder() error {
	if !p.folder {
		return nil
	}
	if err := os.MkdirAll(p.output, 0o777); err != nil {
		return &outputError{p.output, err}
	}
	return nil
}

// createTrace makes the file of a trace; "-" is standard output.
func (std *stdio) createTrace(path string) (*tracefile.File, error) {
	if path == "-" {
		return tracefile.Stream(std.out, stdoutName), nil
	}
	f, err := tracefile.Create(path)
	return f, outputFailed(path, err)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// fileName is a name without what a file's name cannot have on some system.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	return strings.TrimLeft(clean, ".")
}

// defaultTraceName is dotnet-trace's.
func defaultTraceName(process string, now time.Time) string {
	return cmp.Or(process, "trace") + now.Format("_20060102_150405") + ".nettrace"
}
