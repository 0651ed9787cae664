package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/open"
)

// TestTraceAgrees compares the figures that a reader finds in the trace with the
// program's summary.
func TestTraceAgrees(t *testing.T) {
	for format, create := range formats {
		for _, n := range []int{1, 2, 33} {
			t.Run(fmt.Sprintf("%s %d", format, n), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x")
				var printed bytes.Buffer
				if err := run(&printed, path, create, n); err != nil {
					t.Fatal(err)
				}
				var raised summary
				if err := json.Unmarshal(printed.Bytes(), &raised); err != nil {
					t.Fatal(err)
				}
				agree(t, path, raised, n)
			})
		}
	}
}

// The trace has all that was raised, however slowly it is written.
func TestSlowTraceIsWhole(t *testing.T) {
	slow := func(p *emit.Provider, _ string, opt emit.SessionOptions) (*emit.Session, error) {
		opt.BufferBytes = 1 << 20
		return p.Start(dotnettest.SlowWriter{W: io.Discard, Pause: 50 * time.Millisecond}, opt)
	}
	const n = 200
	var printed bytes.Buffer
	if err := run(&printed, "", slow, n); err != nil {
		t.Fatal(err)
	}
	var raised summary
	if err := json.Unmarshal(printed.Bytes(), &raised); err != nil {
		t.Fatal(err)
	}
	if got := raised.Events[clr.KindGCStart.String()]; got != n {
		t.Errorf("the trace has %d collections of %d", got, n)
	}
}

// TestServedTraceAgrees compares the figures that a client collects, from before the
// first collection on, with the program's summary.
func TestServedTraceAgrees(t *testing.T) {
	folder, err := os.MkdirTemp("", "x") // whose path has room for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	port, err := diag.Listen(filepath.Join(folder, "port"))
	if err != nil {
		t.Skip(err)
	}
	defer port.Close()
	t.Setenv("TMPDIR", folder)
	t.Setenv("DOTNET_DiagnosticPorts", filepath.Join(folder, "port"))
	var printed bytes.Buffer
	served := make(chan error)
	go func() { served <- serve(&printed, time.Second) }()

	r, err := port.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := r.Collect(t.Context(), diag.Config{BufferMB: 64, Rundown: diag.RundownGC, Providers: []diag.Provider{
		{Name: clr.RuntimeProvider, Keywords: 0x8003, Level: 5}, {Name: clr.PrivateProvider, Keywords: 1, Level: 4},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(session) // until the program ends
	if err := errors.Join(err, <-served); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var raised summary
	if err := json.Unmarshal(printed.Bytes(), &raised); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, kinds := range raised.Collections {
		for _, of := range kinds {
			n += of
		}
	}
	agree(t, path, raised, n)
}

func agree(t *testing.T, path string, raised summary, n int) {
	in, err := open.File(path, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	read := summary{Collections: map[string]map[string]int{}, Events: map[string]uint64{}}
	var model gc.Model
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		if !c.Complete || c.AffectedByLoss {
			t.Errorf("%+v", c)
		}
		read.PID = int(c.Process.PID)
		read.add(c.Generation.Or(0), c.Kind.String(), c.Pause().Or(0), &result{promoted: uint64(c.Promoted.Or(0)), freed: uint64(c.Freed.Or(0))})
		n--
	}
	for desc, n := range in.Source.Counts() {
		if desc.Provider == clr.GctrailProvider { // added by collect
			continue
		}
		read.Events[clr.KindOf(desc.Provider, desc.ID).String()] += n
	}
	if math.Abs(read.PauseMs-raised.PauseMs) > 1e-6 {
		t.Errorf("pauses of %v ms, raised %v", read.PauseMs, raised.PauseMs)
	}
	read.PauseMs = raised.PauseMs
	if !reflect.DeepEqual(read, raised) {
		t.Errorf("read   %+v\nraised %+v", read, raised)
	}
	if n != 0 {
		t.Errorf("%d collections are missing", n)
	}
}
