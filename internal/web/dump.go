package web

import (
	"context"
	"net/http"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/export"
)

// A Dumper takes heap snapshots of processes.
type Dumper interface {
	// Cost says in a few words what one costs.
	Cost(*diag.Process) string
	// Take takes one, and returns its file and a few words about it.
	Take(context.Context, *diag.Process) (path, about string, err error)
}

// maxDumps bounds the files that pages can have the server write.
const maxDumps = 16

// dumpCost answers what a heap snapshot of a process would cost.
func (s *Server) dumpCost(w http.ResponseWriter, _ *http.Request, p *process) {
	answer(w, map[string]string{"cost": s.opts.Dumper.Cost(p.current())})
}

// dump takes a heap snapshot of a process, and answers with its file. It is completed also
// when the page has gone, because the process has been paused for it.
func (s *Server) dump(w http.ResponseWriter, r *http.Request, p *process) {
	select {
	case s.dumps <- struct{}{}:
		defer func() { <-s.dumps }()
	default:
		refuse(w, http.StatusServiceUnavailable, "another snapshot is being taken")
		return
	}
	if s.dumped == maxDumps {
		refuse(w, http.StatusInsufficientStorage, "too many snapshots were taken already: take more with gctrail dump")
		return
	}
	s.dumped++
	path, about, err := s.opts.Dumper.Take(context.WithoutCancel(r.Context()), p.current())
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, export.Clean(err.Error()))
		return
	}
	s.mu.Lock()
	f := &file{id: len(s.files), name: path, path: path}
	s.files = append(s.files, f)
	s.mu.Unlock()
	answer(w, map[string]any{"id": f.id, "path": export.Clean(path), "about": export.Clean(about)})
}

// current returns the latest description of the process.
func (p *process) current() *diag.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}
