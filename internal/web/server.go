// Package web serves pages about traces and running processes to browsers.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/internal/guard"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/watch"
)

// Options configure a server.
type Options struct {
	Program string // that serves, with its version
	Token   string // which every request must have
	Files   []string
	// Watch watches running processes; Wants is as for package watch.
	Watch   bool
	Watcher watch.Options
	Dumper  Dumper  // of watched processes
	Opener  *Opener // nil for none
}

// The bounds of a server's memory.
const (
	maxUploads   = 16
	maxRead      = 8 // files on disk whose data are kept
	maxProcesses = 64
	maxQuoted    = 4096 // collections that a finding of a running process quotes
)

// A Server serves pages.
type Server struct {
	opts    Options
	watcher *watch.Watcher
	states  states
	uploads chan struct{} // one is read at a time
	dumps   chan struct{} // one is taken at a time
	dumped  int           // changes with the place in dumps
	looked  chan struct{} // closed when somebody has looked at the list
	look    sync.Once

	mu        sync.Mutex
	files     []*file
	uploaded  int
	processes map[int]*process // by the watcher's id
	seen      []int            // ids, the oldest first
}

// New returns a server that does nothing before Serve.
func New(opts Options) *Server {
	s := &Server{opts: opts, uploads: make(chan struct{}, 1), dumps: make(chan struct{}, 1), processes: make(map[int]*process), looked: make(chan struct{})}
	for i, path := range opts.Files {
		s.files = append(s.files, &file{id: i, name: path, path: path})
	}
	if opts.Watch {
		opts.Watcher.Each, opts.Watcher.Retain, opts.Watcher.PerHeap, opts.Watcher.Phases = s.hear, maxQuoted, true, true
		s.watcher = watch.New(opts.Watcher)
		s.states.watcher = s.watcher
	}
	return s
}

// Serve answers requests until ctx is done. A certificate and a key make it use
// TLS.
func (s *Server) Serve(ctx context.Context, l net.Listener, certificate, key string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler:           s.handler(l.Addr()),
		ReadHeaderTimeout: readHeader, ReadTimeout: readHeader, IdleTimeout: idle, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // clients that break off are no news
	}
	var running sync.WaitGroup
	running.Go(func() { s.summarize(ctx) })
	if s.watcher != nil {
		running.Go(func() { s.watcher.Run(ctx) })
	}
	defer running.Wait()
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	var err error
	if certificate != "" {
		err = server.ServeTLS(l, certificate, key)
	} else {
		err = server.Serve(l)
	}
	cancel()
	s.dumps <- struct{}{} // waits for a snapshot being taken, whose file would otherwise be cut
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// handler answers the requests to a server at an address.
func (s *Server) handler(addr net.Addr) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /list", s.list)
	mux.HandleFunc("GET /file/{id}/{part}", s.filePart)
	mux.HandleFunc("GET /process/{id}/columns", s.ofProcess(s.processColumns))
	mux.HandleFunc("GET /process/{id}/gc/{number}", s.ofProcess(s.processDetail))
	mux.HandleFunc("GET /process/{id}/live", s.ofProcess(s.processLive))
	mux.HandleFunc("GET /process/{id}/quoted", s.ofProcess(s.processQuoted))
	mux.HandleFunc("GET /process/{id}/dump", s.ofProcess(s.dumpCost))
	mux.HandleFunc("POST /process/{id}/dump", s.ofProcess(s.dump))
	mux.HandleFunc("POST /upload", s.upload)
	return &gate{token: s.opts.Token, open: s.opts.Opener, own: guard.For(addr), busy: make(chan struct{}, maxRequests), next: mux}
}

// hear adds the watcher's news.
func (s *Server) hear(n *watch.News) {
	s.mu.Lock()
	p := s.processes[n.ID]
	if p == nil && (n.Attached || n.Collection != nil) {
		p = &process{id: n.ID, more: make(chan struct{})}
		s.processes[n.ID] = p
		if s.seen = append(s.seen, n.ID); len(s.seen) > maxProcesses {
			delete(s.processes, s.seen[0])
			s.seen = s.seen[1:]
		}
	}
	s.mu.Unlock()
	if p != nil {
		p.take(n)
	}
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = html.WriteShell(w, "gctrail") // the client is gone
}

// A listed is a trace or a process that can be shown.
type listed struct {
	Kind string `json:"kind"` // file or process
	ID   int    `json:"id"`
	Name string `json:"name"`
	PID  int    `json:"pid,omitempty"`
	Live bool   `json:"live"`
	// Of processes.
	Collections int `json:"collections"`
	about
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	s.look.Do(func() { close(s.looked) })
	all := []listed{}
	if s.watcher != nil {
		for _, p := range s.watcher.Snapshot().Processes {
			l := listed{Kind: "process", ID: p.ID, Name: export.Clean(p.Name), PID: p.PID, Live: p.State == watch.Watched, Collections: p.Collections, about: about{Entry: report.Entry{Verdict: p.Verdict}}}
			if p.Problem != nil {
				l.Problem = p.Problem.Error()
			}
			all = append(all, l)
		}
	}
	s.mu.Lock()
	for _, f := range s.files {
		l := listed{Kind: "file", ID: f.id, Name: export.Clean(filepath.Base(f.name))}
		if a := f.about.Load(); a != nil {
			l.about = *a
		}
		all = append(all, l)
	}
	s.mu.Unlock()
	answer(w, map[string]any{"watching": s.watcher != nil, "max_upload_bytes": maxUpload, "sources": all, "opener": s.opts.Opener != nil})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

// number is a part of a request's path.
func number(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.PathValue(name))
	if err != nil {
		return -1
	}
	return n
}

func (s *Server) filePart(w http.ResponseWriter, r *http.Request) {
	id := number(r, "id")
	s.mu.Lock()
	i := slices.IndexFunc(s.files, func(f *file) bool { return f.id == id })
	var f *file
	if i >= 0 {
		f = s.files[i]
	}
	s.mu.Unlock()
	if f == nil {
		refuse(w, http.StatusNotFound, "no such trace")
		return
	}
	data, err := f.block(r.Context(), s.opts.Program, r.PathValue("part"))
	switch {
	case errors.Is(err, errNoBlock):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, export.Clean(err.Error()))
	default:
		s.forget(f)
		s.send(w, data)
	}
}

// forget drops the data of files on disk that were read before, if there are
// too many.
func (s *Server) forget(but *file) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := 0
	for _, f := range slices.Backward(s.files) {
		if f == but || f.path == "" {
			continue
		}
		if kept++; kept >= maxRead {
			f.drop()
		}
	}
}

// send sends data within a time.
func (s *Server) send(w http.ResponseWriter, data []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin))
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data) // the client is gone
}

// upload reads a trace that a page sends, and answers with its id.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	name := export.Clean(filepath.Base(r.URL.Query().Get("name")))
	s.mu.Lock()
	full := s.uploaded >= maxUploads
	s.mu.Unlock()
	if full {
		refuse(w, http.StatusInsufficientStorage, fmt.Sprintf("%d traces were uploaded already: start gctrail serve again, or open them by path", maxUploads))
		return
	}
	if r.ContentLength > maxUpload {
		refuse(w, http.StatusRequestEntityTooLarge, tooLarge)
		return
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		refuse(w, http.StatusServiceUnavailable, "another trace is being uploaded")
		return
	}
	f, err := upload(r.Context(), s.opts.Program, name, http.MaxBytesReader(w, r.Body, maxUpload))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		refuse(w, http.StatusRequestEntityTooLarge, tooLarge)
		return
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, export.Clean(err.Error()))
		return
	}
	s.mu.Lock()
	f.id = len(s.files)
	s.files = append(s.files, f)
	s.uploaded++
	s.mu.Unlock()
	answer(w, map[string]int{"id": f.id})
}

var tooLarge = fmt.Sprintf("a trace may have at most %d MiB here: pass its path to gctrail serve", maxUpload>>20)

// ofProcess returns a handler that hands on the process that a request is about, if there is one.
func (s *Server) ofProcess(handle func(http.ResponseWriter, *http.Request, *process)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		p := s.processes[number(r, "id")]
		s.mu.Unlock()
		if p == nil {
			refuse(w, http.StatusNotFound, "no such process is watched")
			return
		}
		handle(w, r, p)
	}
}

func (s *Server) processColumns(w http.ResponseWriter, _ *http.Request, p *process) {
	state, err := s.states.of(p.id)
	if err == nil {
		var data []byte
		if data, err = p.columns(s.opts.Program, state, w.Header()); err == nil {
			s.send(w, data)
			return
		}
	}
	refuse(w, http.StatusInternalServerError, export.Clean(err.Error()))
}

func (s *Server) processDetail(w http.ResponseWriter, r *http.Request, p *process) {
	detail := p.detail(uint32(max(0, number(r, "number"))))
	if detail == nil {
		detail = []byte("null")
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(detail) // the client is gone
}

// processQuoted sends the collections that the findings of a process quote.
func (s *Server) processQuoted(w http.ResponseWriter, _ *http.Request, p *process) {
	quoted := html.Quoted{}
	for _, of := range s.watcher.Snapshot().Processes {
		if of.ID == p.id {
			quoted = html.NewQuoted(of.Findings)
		}
	}
	answer(w, quoted)
}

// processLive sends the collections of a process as they end, as server-sent events, from
// a given one on. An interrupted page continues at its place.
func (s *Server) processLive(w http.ResponseWriter, r *http.Request, p *process) {
	at, err := strconv.Atoi(r.URL.Query().Get("from"))
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		at, err = strconv.Atoi(last)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "from is a number")
		return
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // a client has nothing more to send
	w.Header().Set("Content-Type", "text/event-stream")
	s.stream(r.Context(), &events{w: w, c: c}, p, at)
}

// stream sends events until the client is gone or the process has ended.
func (s *Server) stream(ctx context.Context, out *events, p *process, at int) {
	tick := time.NewTicker(fresh)
	defer tick.Stop()
	sent, phase := time.Time{}, 0
	for out.err == nil {
		if phases, next := p.phases(phase); phases != nil {
			out.send("phases", at, phases)
			phase = next
		}
		rows, next, gone, ended, more := p.rows(at)
		switch {
		case gone:
			out.send("gone", at, []byte("{}"))
			return
		case rows != nil:
			out.send("rows", next, rows)
			at = next
			if !pause(ctx, batching) {
				return
			}
			continue
		}
		if time.Since(sent) >= fresh {
			state, err := s.states.of(p.id)
			if err != nil {
				return
			}
			out.send("state", at, state)
			sent = time.Now()
		}
		if ended {
			out.send("ended", at, []byte("{}"))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		case <-tick.C:
		}
	}
}

// batching is how long collections are gathered before they are sent.
const batching = 100 * time.Millisecond

// pause waits for a time, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// events writes server-sent events, each within a time.
type events struct {
	w   http.ResponseWriter
	c   *http.ResponseController
	err error
}

func (e *events) send(kind string, id int, data []byte) {
	_ = e.c.SetWriteDeadline(time.Now().Add(writeWithin))
	_, e.err = fmt.Fprintf(e.w, "event: %s\nid: %d\ndata: %s\n\n", kind, id, data)
	if e.err == nil {
		e.err = e.c.Flush()
	}
}
