package emit_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// An event is raised only if a session wants it.
func ExampleProvider() {
	p, err := emit.NewProvider(emit.ProviderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("before:", p.Enabled(clr.KindGCAllocationTick))

	var out bytes.Buffer
	session, err := p.Start(&out, emit.SessionOptions{Providers: emit.GCVerbose()})
	if err != nil {
		log.Fatal(err)
	}
	if p.Enabled(clr.KindGCAllocationTick) {
		p.Raise(&clr.GCAllocationTick{AllocationAmount64: 102400, TypeName: clr.NewUTF16("Game.Monster[]")})
	}
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}

	printEvents(&out, clr.RuntimeProvider)
	// Output:
	// before: false
	// GCAllocationTick ,"fields":{"AllocationAmount":0,"AllocationKind":0,"ClrInstanceID":0,"AllocationAmount64":102400,"TypeID":0,"TypeName":"Game.Monster[]","HeapIndex":0,"Address":0,"ObjectSize":0},"fields_text":{"AllocationKind":"Small"}
}

// A collection of generation 0 on a heap of one generation.
func ExampleCollector() {
	p, err := emit.NewProvider(emit.ProviderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	session, err := p.Start(&out, emit.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}

	collector := p.NewCollector(emit.CollectorOptions{})
	c, err := collector.Begin(emit.Plan{Generation: 0, Reason: clr.GCReasonAllocSmall})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.End(&emit.Result{}))

	var heap emit.HeapResult
	heap[emit.Gen0] = clr.GCPerHeapHistoryValue{SizeBefore: 1000, NonePinnedSurv: 100}
	heap[emit.Gen1] = clr.GCPerHeapHistoryValue{SizeAfter: 100, In: 100}
	for _, step := range []func() error{
		c.Suspended,
		func() error { return c.End(&emit.Result{Heaps: []emit.HeapResult{heap}}) },
		c.Resume,
		c.Resumed,
	} {
		if err := step(); err != nil {
			log.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}

	var model gc.Model
	for c, err := range model.Collections(nettrace.NewReader(&out, nettrace.Options{})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("collection %d: %v generation %v, freed %v, promoted %v\n", c.Number, c.Kind, c.Generation, c.Freed, c.Promoted)
	}
	// Output:
	// emit: step out of order: End of collection 0, which is stopping the threads
	// collection 1: blocking generation 0, freed 900, promoted 100
}

// A program's own event describes its fields in the trace.
func ExampleProvider_Define() {
	p, err := emit.NewProvider(emit.ProviderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	frame, err := p.Define(trace.Descriptor{
		Provider: "Game", ID: 1, Name: "Frame", Level: 4, Keywords: 1,
		Fields: []trace.Field{{Name: "Number", Type: trace.Uint32}, {Name: "Scene", Type: trace.UTF16String}},
	})
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	session, err := p.Start(&out, emit.SessionOptions{Providers: []emit.Wanted{{Provider: "Game", Keywords: 1, Level: 4}}})
	if err != nil {
		log.Fatal(err)
	}
	if frame.Enabled() {
		if err := frame.Raise(uint32(7), "forest"); err != nil {
			log.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}
	printEvents(&out, "Game")
	// Output:
	// Frame ,"fields":{"Number":7,"Scene":"forest"}
}

func printEvents(r io.Reader, provider string) {
	var decoder clr.Decoder
	for ev, err := range nettrace.NewReader(r, nettrace.Options{}).Events() {
		if err != nil {
			log.Fatal(err)
		}
		if ev.Desc.Provider == provider {
			fmt.Printf("%s %s\n", decoder.Name(ev.Desc), decoder.AppendFields(nil, ev))
		}
	}
}

// This serves gctrail, dotnet-trace and others. Here, a client collects an event from it.
func ExampleServe() {
	p, err := emit.NewProvider(emit.ProviderOptions{Process: emit.Process{CommandLine: "shop", Runtime: [3]uint16{10, 0, 1}}})
	if err != nil {
		log.Panic(err)
	}
	defer p.Close()
	server, err := emit.Serve(context.Background(), p, emit.ServeOptions{SuspendLimit: time.Minute, Environment: []string{}})
	if err != nil {
		log.Panic(err)
	}
	defer server.Close()

	client := diag.NewClient(server.Address())
	info, err := client.Info(context.Background())
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(info.Name(), "runs on", info.RuntimeVersion)
	session, err := client.Collect(context.Background(), diag.Config{BufferMB: 1, Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 1, Level: 4}}})
	if err != nil {
		log.Panic(err)
	}
	defer session.Close()
	p.Raise(&clr.GCStart{Count: 1})
	go session.Stop(context.Background())
	for ev, err := range nettrace.NewReader(session, nettrace.Options{}).Events() {
		if err != nil {
			log.Panic(err)
		}
		if kind := clr.KindOf(ev.Desc.Provider, ev.Desc.ID); kind == clr.KindGCStart {
			fmt.Println("raised", kind)
		}
	}
	// Output:
	// shop runs on 10.0.1
	// raised GCStart
}
