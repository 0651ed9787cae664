// Command emit raises garbage collections that it makes up, of all kinds. It
// writes them as a trace, or has clients collect them as from a .NET process. Its
// last line is JSON of what it raised.
//
//	go run ./examples/emit -o made-up.nettrace
//	gctrail made-up.nettrace
//
//	go run ./examples/emit -serve 30s
//	gctrail collect -n emit
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

func main() {
	out := flag.String("o", "", "write the trace to `FILE`, a folder or .trace.zip for ctf")
	format := flag.String("format", "v4", "`FORMAT` of the trace: v4, v6 or ctf")
	collections := flag.Int("collections", 40, "raise `N` collections into the trace")
	duration := flag.Duration("serve", 0, "let clients attach, and raise collections for a `TIME`, or until Ctrl-C")
	flag.Parse()
	create := formats[*format]
	if (*out == "") == (*duration <= 0) || create == nil || *collections < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if *duration > 0 {
		err = serve(os.Stdout, *duration)
	} else {
		err = run(os.Stdout, *out, create, *collections)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "emit:", err)
		os.Exit(1)
	}
}

// A create starts a session that writes to a file of some format.
type create func(p *emit.Provider, out string, opt emit.SessionOptions) (*emit.Session, error)

var formats = map[string]create{
	"v4":  (*emit.Provider).Create,
	"v6":  createV6,
	"ctf": (*emit.Provider).CreateCTF,
}

func createV6(p *emit.Provider, out string, opt emit.SessionOptions) (*emit.Session, error) {
	opt.Version = 6
	return p.Create(out, opt)
}

func newProvider() (*emit.Provider, error) {
	return emit.NewProvider(emit.ProviderOptions{
		Process: emit.Process{Flags: clr.StartupFlagsServerGC | clr.StartupFlagsConcurrentGC},
	})
}

// everything is all that the program raises.
var everything = append(emit.GCVerbose(), emit.GCCollect()...)

// run raises n collections into a trace, and prints to w what it raised. It waits where the
// trace is written more slowly, because events that do not fit would be lost.
func run(w io.Writer, out string, create create, n int) error {
	provider, err := newProvider()
	if err != nil {
		return err
	}
	session, err := create(provider, out, emit.SessionOptions{Providers: everything, Block: true})
	if err != nil {
		return err
	}
	p := newProgram(provider)
	if err := errors.Join(p.run(n), session.Close()); err != nil {
		return err
	}
	return p.print(w, session)
}

// serve raises collections for a time while clients attach, and prints to w what
// it raised.
func serve(w io.Writer, d time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	provider, err := newProvider()
	if err != nil {
		return err
	}
	// The account is a session of its own, which misses nothing.
	account, err := provider.Start(io.Discard, emit.SessionOptions{Providers: everything, Block: true})
	if err != nil {
		return err
	}
	server, err := emit.Serve(ctx, provider, emit.ServeOptions{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	p := newProgram(provider)
	if err := errors.Join(p.runUntil(ctx), server.Close(), account.Close()); err != nil {
		return err
	}
	return p.print(w, account)
}

// print prints the summary, with the events of a session that received all of them.
func (p *program) print(w io.Writer, all *emit.Session) error {
	p.summary.Events = map[string]uint64{}
	for desc, n := range all.Written() {
		p.summary.Events[clr.KindOf(desc.Provider, desc.ID).String()] += n
	}
	return json.NewEncoder(w).Encode(p.summary)
}

// A summary is the program's own account of the collections that it raised.
type summary struct {
	PID           int                       `json:"pid"`
	Collections   map[string]map[string]int `json:"collections"` // by generation and kind
	PauseMs       float64                   `json:"pause_ms"`
	PromotedBytes uint64                    `json:"promoted_bytes"`
	FreedBytes    uint64                    `json:"freed_bytes"`
	Events        map[string]uint64         `json:"events"` // by name
}

// add counts a collection that is over.
func (s *summary) add(generation int, kind string, pause time.Duration, r *result) {
	name := fmt.Sprintf("gen%d", generation)
	if s.Collections[name] == nil {
		s.Collections[name] = map[string]int{}
	}
	s.Collections[name][kind]++
	s.PauseMs += float64(pause) / float64(time.Millisecond)
	s.PromotedBytes += r.promoted
	s.FreedBytes += r.freed
}
