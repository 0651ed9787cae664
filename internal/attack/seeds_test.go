package attack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A seed is a trace to be damaged.
type seed struct {
	name    string
	data    []byte
	headers func(testing.TB, []byte) []header // finds them in data
	wrap    func([]byte) []byte               // embeds damaged data in the input; nil leaves it unchanged
}

func (s *seed) wrapped(data []byte) []byte {
	if s.wrap == nil {
		return data
	}
	return s.wrap(data)
}

// program returns the events of a process in a few collections.
func program(collections int) []*trace.Event {
	m := tracetest.Maker{PID: 42, TID: 9}
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

// A layout is one way to arrange a program's events in a .nettrace.
type layout struct {
	head         string // see tracetest
	uncompressed bool
}

func (l layout) version() int { return int(l.head[strings.IndexByte(l.head, 'v')+1] - '0') }

// Blocks with the stacks and labels that events refer to.
const (
	stacks = "stacks first=1 [0x1000 0x2000 0x3000] [] [0x1000]\n"
	labels = "labels first=1\n  list activity=01020304050607080910111213141516 text=name:value level=4\n  list number=n:-1\n"
)

// assembled returns a program's trace. Its thread raises each event with or without
// a stack, activities or labels.
func (l layout) assembled(tb testing.TB, collections int) []byte {
	tb.Helper()
	var b strings.Builder
	version := l.version()
	form, thread := "", 9
	if l.uncompressed {
		form = " uncompressed"
	}
	fmt.Fprintln(&b, l.head)
	switch version {
	case 4:
		fmt.Fprint(&b, stacks)
	case 6:
		thread = 1
		fmt.Fprintln(&b, "threads\n  thread index=1 pid=42 tid=9 name=main\n  thread index=2 pid=42 tid=10 kv=a:b")
		fmt.Fprint(&b, labels, stacks)
	}
	events := program(collections)
	ids := make(map[*trace.Descriptor]int)
	fmt.Fprintln(&b, map[int]string{3: "events", 4: "metadata" + form, 6: "metadata"}[version])
	for _, ev := range events {
		if ids[ev.Desc] == 0 {
			ids[ev.Desc] = len(ids) + 1
			fmt.Fprintf(&b, "  def id=%d provider=%s event=%d version=%d keywords=1 level=4", ids[ev.Desc], ev.Desc.Provider, ev.Desc.ID, ev.Desc.Version)
			if version == 3 {
				fmt.Fprint(&b, " nofields thread=9 time=+0")
			}
			fmt.Fprintln(&b)
		}
	}
	for i, ev := range events {
		if i%14 == 0 {
			fmt.Fprintln(&b, "events"+form)
		}
		fmt.Fprintf(&b, "  event meta=%d thread=%d time=+%d payload=hex:%x", ids[ev.Desc], thread, ev.Ticks, ev.Payload)
		switch version {
		case 3:
			fmt.Fprintf(&b, " stack=%s", [...]string{"[]", "[0x1000 0x2000]"}[i%2])
		case 4:
			fmt.Fprintf(&b, " capture=%d seq=%d sorted stack=%d activity=%032x related=%032x", thread, i+1, i%4, i/5%2, i/6%2)
		case 6:
			fmt.Fprintf(&b, " capture=%d seq=%d sorted stack=%d labels=%d", thread, i+1, i%4, i/5%3)
		}
		fmt.Fprintln(&b)
	}
	if version > 3 {
		fmt.Fprintf(&b, "sp time=+%d %d=%d\n", events[len(events)-1].Ticks, thread, len(events))
	}
	if version == 6 {
		fmt.Fprintf(&b, "removethreads 1=%d 2=0\n", len(events))
	}
	fmt.Fprintln(&b, "end")
	return tracetest.MustNettrace(tb, b.String())
}

// seeds returns small traces of every format and in every container.
func seeds(tb testing.TB) []seed {
	tb.Helper()
	var list []seed
	for _, l := range []layout{
		{head: "netperf v3"},
		{head: "nettrace v4"},
		{"nettrace v4", true},
		{head: "nettrace v4 version=5 minver=4"},
		{head: "nettrace v6"},
		{"nettrace v6", true},
	} {
		name := l.head
		if l.uncompressed {
			name += " uncompressed"
		}
		list = append(list, seed{name: name, data: l.assembled(tb, 6), headers: nettraceHeaders(l.version())})
	}
	v4 := list[1].data
	list = append(list,
		seed{name: "gzip", data: gzipped(tb, v4), headers: gzipHeaders},
		seed{name: "zstd", data: zstandard(tb, v4), headers: zstdHeaders},
		seed{name: "xz", data: xzed(tb, v4), headers: xzHeaders},
		seed{name: "etl of all headers", data: allETLHeaders(), headers: etlHeaders},
	)
	for _, z := range []struct{ name, file string }{
		{"etl", "net8-win-x64-gcevents.etl.zip"},
		{"ctf 1.8", "net20-lttng-gcstart-gcend.trace.zip"},
		{"ctf 2", "lttng216-ctf2.trace.zip"},
	} {
		data, err := os.ReadFile("../../testdata/" + z.file)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, seed{name: "zip of " + z.name, data: data, headers: zipHeaders})
		list = append(list, parts(tb, z.name, data)...)
	}
	written := writtenCTF(tb)
	list = append(list, seed{name: "tar of ctf", data: tarred(tb, written), headers: tarHeaders})
	return append(list, parts(tb, "written ctf", written)...)
}

// allETLHeaders returns a program's trace with headers of all types in it.
func allETLHeaders() []byte {
	f := tracetest.NewETL()
	payload := []byte{1, 2, 3}
	kernel := tracetest.ETLEvent{PID: 42, TID: 9, Group: 5, Opcode: 1, Version: 3, Payload: payload}
	counted := kernel
	counted.Counters, counted.Sampled = 2, true
	classic := tracetest.ETLEvent{PID: 42, TID: 9, Provider: "01020304-0506-0708-090a-0b0c0d0e0f10", Opcode: 9, Payload: payload}
	described := tracetest.ETLEvent{PID: 42, TID: 9, Provider: tracetest.PrivateGUID, ID: 300, Payload: payload}
	described.Items = []tracetest.ETLItem{
		{Type: 1, Data: bytes.Repeat([]byte{0xbb}, 16)},
		{Type: 6, Data: tracetest.ETLPayload(uint64(0), uint64(0x10), uint64(0x20))},
	}
	others := []struct {
		kind  uint8
		event tracetest.ETLEvent
	}{
		{tracetest.ETLSystem32, kernel},
		{tracetest.ETLSystem64, kernel},
		{tracetest.ETLCompact32, kernel},
		{tracetest.ETLCompact64, kernel},
		{tracetest.ETLPerfInfo32, kernel},
		{tracetest.ETLPerfInfo64, counted},
		{tracetest.ETLFull32, classic},
		{tracetest.ETLFull64, classic},
		{tracetest.ETLInstance32, classic},
		{tracetest.ETLInstance64, classic},
		{tracetest.ETLTimed, classic},
		{tracetest.ETLEvent32, described},
		{tracetest.ETLEvent64, described},
	}
	var b *tracetest.ETLBuffer
	for n, ev := range program(6) {
		if n%14 == 0 {
			b = f.Buffer(uint16(n / 14 % 2))
		}
		if n/14 == 1 {
			b.Compress()
		}
		e := etlEvent(f, ev)
		b.Event(e)
		o := others[n%len(others)]
		o.event.Type, o.event.Time = o.kind, e.Time
		b.Event(o.event)
		b.Flushed = e.Time
		f.Header.End = f.Header.Start + e.Time - f.Header.Time
	}
	return f.Bytes()
}

// writtenCTF returns a program's trace, in a zip. The time between its collections is
// long, so that events need the longer of their two headers.
func writtenCTF(tb testing.TB) []byte {
	tb.Helper()
	var out bytes.Buffer
	opt := ctfOptions
	opt.PacketSize = 4096
	w, err := ctf.NewZipWriter(&out, "program", opt)
	if err != nil {
		tb.Fatal(err)
	}
	for n, ev := range program(6) {
		ev.Ticks += int64(n/7) * int64(5*time.Second)
		if err := w.Write(ev); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	return packed(tb, &b, gzip.NewWriter(&b), data)
}

func xzed(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		tb.Fatal(err)
	}
	return packed(tb, &b, w, data)
}

// packed returns the output of w for data.
func packed(tb testing.TB, out *bytes.Buffer, w io.WriteCloser, data []byte) []byte {
	tb.Helper()
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
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

// A file is one of a zip's files.
type file struct {
	name string
	data []byte
}

func unzipped(tb testing.TB, archive []byte) (files []file) {
	tb.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range r.File {
		data, err := fs.ReadFile(r, f.Name)
		if err != nil {
			continue // a folder
		}
		files = append(files, file{f.Name, data})
	}
	return files
}

// zipped puts files into a zip, without packing them.
func zipped(tb testing.TB, files []file) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err == nil {
			_, err = entry.Write(f.data)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// tarred puts the files of a zip into a tar.
func tarred(tb testing.TB, archive []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range unzipped(tb, archive) {
		err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o600})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// parts returns the files of a zip, each to be damaged while the others are whole.
func parts(tb testing.TB, name string, archive []byte) (list []seed) {
	tb.Helper()
	files := unzipped(tb, archive)
	var metadata []byte
	for _, f := range files {
		if path.Base(f.name) == "metadata" {
			metadata = f.data
		}
	}
	for i, f := range files {
		s := seed{name: name + ": " + path.Base(f.name), data: f.data}
		switch {
		case metadata == nil:
			s.headers = etlHeaders
		case path.Ext(f.name) == ".idx":
			s.headers = whole
		case path.Base(f.name) == "metadata":
			s.headers = metadataHeaders
		default:
			s.headers = streamHeaders(metadata)
		}
		if len(files) > 1 {
			s.wrap = func(data []byte) []byte {
				damaged := slices.Clone(files)
				damaged[i].data = data
				return zipped(tb, damaged)
			}
		}
		list = append(list, s)
	}
	return list
}
