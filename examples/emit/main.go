// Command emit raises garbage collections that it makes up, of all kinds, and
// writes them as a trace. Its last line is JSON of what it raised.
//
//	go run ./examples/emit -o made-up.nettrace
//	gctrail made-up.nettrace
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

func main() {
	out := flag.String("o", "", "write the trace to `FILE`, a folder or .trace.zip for ctf")
	format := flag.String("format", "v4", "`FORMAT` of the trace: v4, v6 or ctf")
	collections := flag.Int("collections", 40, "raise `N` collections")
	flag.Parse()
	create := formats[*format]
	if *out == "" || create == nil || *collections < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *out, create, *collections); err != nil {
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

// run raises n collections into a trace, and prints to w what it raised.
func run(w io.Writer, out string, create create, n int) error {
	provider, err := emit.NewProvider(emit.ProviderOptions{
		Process: emit.Process{Flags: clr.StartupFlagsServerGC | clr.StartupFlagsConcurrentGC},
	})
	if err != nil {
		return err
	}
	session, err := create(provider, out, emit.SessionOptions{
		Providers: append(emit.GCVerbose, emit.GCCollect...),
	})
	if err != nil {
		return err
	}
	p := newProgram(provider)
	err = p.run(n)
	if closed := session.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	p.summary.Events = map[string]uint64{}
	for desc, n := range session.Written() {
		p.summary.Events[clr.KindOf(desc.Provider, desc.ID).String()] += n
	}
	return json.NewEncoder(w).Encode(p.summary)
}

// A summary is what the program knows of the collections that it raised.
type summary struct {
	PID           int                       `json:"pid"`
	Collections   map[string]map[string]int `json:"collections"` // by generation and kind
	PauseMs       float64                   `json:"pause_ms"`
	PromotedBytes uint64                    `json:"promoted_bytes"`
	FreedBytes    uint64                    `json:"freed_bytes"`
	Events        map[string]uint64         `json:"events"` // written, by name
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
