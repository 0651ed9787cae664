package attack

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/eventtest"
	"github.com/gctrail/gctrail/internal/nettracetest"
	"github.com/gctrail/gctrail/trace"
)

// A seed is a trace to be damaged.
type seed struct {
	name string
	data []byte
	wrap func([]byte) []byte // puts damaged data into what is read; nil leaves it as it is
}

func (s *seed) wrapped(data []byte) []byte {
	if s.wrap == nil {
		return data
	}
	return s.wrap(data)
}

// program returns what a process raises in a few collections.
func program(collections int) []*trace.Event {
	m := eventtest.Maker{PID: 42, TID: 9}
	var all []*trace.Event
	at := 10 * time.Millisecond
	raise := func(e clr.Event) {
		at += 100 * time.Microsecond
		all = append(all, m.At(at, e))
	}
	for n := range uint32(collections) {
		raise(&clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC, Count: n})
		raise(&clr.GCSuspendEEEnd{})
		raise(&clr.GCStart{Count: n + 1, Depth: n % 3, Type: clr.GCTypeNonConcurrentGC})
		raise(&clr.GCEnd{Count: n + 1, Depth: n % 3})
		raise(&clr.GCHeapStats{GenerationSize0: 1 << 20, GenerationSize1: 2 << 20, GenerationSize2: 3 << 20})
		raise(&clr.GCRestartEEBegin{})
		raise(&clr.GCRestartEEEnd{})
		at += 50 * time.Millisecond
	}
	return all
}

// assembled returns a program's trace in one of the versions of .nettrace.
func assembled(tb testing.TB, header string, collections int) []byte {
	tb.Helper()
	var b strings.Builder
	v6, v3 := strings.HasPrefix(header, "nettrace v6"), strings.HasPrefix(header, "netperf")
	fmt.Fprintln(&b, header)
	if v6 {
		fmt.Fprintln(&b, "threads\n  thread index=1 pid=42 tid=9")
	}
	events := program(collections)
	ids := make(map[*trace.Descriptor]int)
	fmt.Fprintln(&b, map[bool]string{true: "events", false: "metadata"}[v3])
	for _, ev := range events {
		if ids[ev.Desc] == 0 {
			ids[ev.Desc] = len(ids) + 1
			fmt.Fprintf(&b, "  def id=%d provider=%s event=%d version=%d keywords=1 level=4", ids[ev.Desc], ev.Desc.Provider, ev.Desc.ID, ev.Desc.Version)
			if v3 {
				fmt.Fprint(&b, " nofields thread=9 time=+0")
			}
			fmt.Fprintln(&b)
		}
	}
	for i, ev := range events {
		if i%14 == 0 {
			fmt.Fprintln(&b, "events")
		}
		fmt.Fprintf(&b, "  event meta=%d thread=%d time=+%d payload=hex:%x", ids[ev.Desc], map[bool]int{true: 1, false: 9}[v6], ev.Ticks, ev.Payload)
		if !v6 && !v3 {
			fmt.Fprintf(&b, " capture=9 seq=%d sorted", i+1)
		}
		fmt.Fprintln(&b)
	}
	if !v6 && !v3 {
		fmt.Fprintf(&b, "sp time=+%d 9=%d\n", events[len(events)-1].Ticks, len(events))
	}
	fmt.Fprintln(&b, "end")
	return nettracetest.MustAssemble(tb, b.String())
}

// seeds returns small traces of every format and in every container.
func seeds(tb testing.TB) []seed {
	tb.Helper()
	v4 := assembled(tb, "nettrace v4", 6)
	list := []seed{
		{name: "netperf v3", data: assembled(tb, "netperf v3", 6)},
		{name: "nettrace v4", data: v4},
		{name: "nettrace v5", data: assembled(tb, "nettrace v4 version=5 minver=4", 6)},
		{name: "nettrace v6", data: assembled(tb, "nettrace v6", 6)},
		{name: "gzip", data: gzipped(tb, v4)},
		{name: "zstd", data: zstandard(tb, v4)},
	}
	for _, z := range []struct{ name, file string }{
		{"etl", "net8-win-x64-gcevents.etl.zip"},
		{"ctf 1.8", "net20-lttng-gcstart-gcend.trace.zip"},
		{"ctf 2", "lttng216-ctf2.trace.zip"},
	} {
		data, err := os.ReadFile("../../testdata/" + z.file)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, seed{name: "zip of " + z.name, data: data})
		list = append(list, parts(tb, z.name, data)...)
	}
	return list
}

func gzipped(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(tb testing.TB, data []byte) []byte {
	tb.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// parts returns the files of a zip, each to be damaged while the others are
// whole.
func parts(tb testing.TB, name string, archive []byte) []seed {
	tb.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	files := make(map[string][]byte)
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			tb.Fatal(err)
		}
		names = append(names, f.Name)
		files[f.Name] = data
	}
	var list []seed
	for _, damaged := range names {
		if len(files[damaged]) == 0 {
			continue
		}
		list = append(list, seed{name + ": " + damaged[strings.LastIndexByte(damaged, '/')+1:], files[damaged], func(data []byte) []byte {
			if len(names) == 1 {
				return data
			}
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			for _, n := range names {
				f, err := w.CreateHeader(&zip.FileHeader{Name: n, Method: zip.Store})
				if err == nil && n == damaged {
					_, err = f.Write(data)
				} else if err == nil {
					_, err = f.Write(files[n])
				}
				if err != nil {
					tb.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				tb.Fatal(err)
			}
			return b.Bytes()
		}})
	}
	return list
}
