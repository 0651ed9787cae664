package collect

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gctrail/gctrail/diag"
)

// Paths gives each trace a path of its own.
type Paths struct {
	output string // a file, a folder, or a pattern with {name} or {pid}; empty for names like dotnet-trace's
	folder bool   // output is one
	ext    string // of names that are not the user's own

	mu    sync.Mutex
	taken map[string]bool
}

// NewPaths returns the paths that an output stands for.
func NewPaths(output string) *Paths {
	p := &Paths{output: output, ext: ".nettrace", taken: map[string]bool{}}
	info, err := os.Stat(output)
	p.folder = err == nil && info.IsDir() || output != "" && os.IsPathSeparator(output[len(output)-1])
	return p
}

// Single reports whether there is room for one trace only.
func (p *Paths) Single() bool {
	return p.output != "" && !p.folder && !strings.Contains(p.output, "{name}") && !strings.Contains(p.output, "{pid}")
}

// Next returns the path for the trace of a process. It never returns a path twice, and a
// name that the user has not chosen replaces no file.
func (p *Paths) Next(process *diag.Process, now time.Time) string {
	if p.Single() {
		return p.output
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name, pid := fileName(process.Name), strconv.Itoa(cmp.Or(process.PID, process.InnerPID))
	path := strings.NewReplacer("{name}", cmp.Or(name, "process"), "{pid}", pid).Replace(p.output)
	own := p.output == "" || p.folder
	if own {
		path = filepath.Join(p.output, defaultTraceName(name, now)+p.ext)
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

// prepare returns the path for the trace of a process, in a folder that it makes if it does not
// exist.
func (p *Paths) prepare(process *diag.Process) (string, error) {
	if p.folder {
		if err := os.MkdirAll(p.output, 0o777); err != nil {
			return "", &OutputError{Name: p.output, Err: err, Kind: "folder"}
		}
	}
	return p.Next(process, time.Now()), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// maxStem is how many bytes of a process's name go into the name of its trace. Systems
// allow 255, but the time, a number and the extension need some.
const maxStem = 160

// fileName returns a name without the characters that some system forbids in file names.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	clean = strings.TrimLeft(clean, ".")
	if len(clean) > maxStem {
		clean = strings.ToValidUTF8(clean[:maxStem], "")
	}
	return clean
}

// defaultTraceName is dotnet-trace's, without the ending.
func defaultTraceName(process string, now time.Time) string {
	return cmp.Or(process, "trace") + now.Format("_20060102_150405")
}
