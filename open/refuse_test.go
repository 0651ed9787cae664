package open_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

const (
	reads   = "gctrail reads .nettrace, .netperf and .etl files, also compressed with gzip, zstd, xz or zip, and LTTng traces: folders, .trace.zip, .tar.gz, .tar.zst and .tar.xz; " + collect
	collect = "record a trace with: gctrail collect -p PID"
	empty   = "an empty file; the program may still be running: .NET 8 and older write their trace when it exits; otherwise, " + collect
	folder  = "give its folder instead"
	noGC    = "it has no GC events: " + collect
	dump    = "open it with dotnet-dump analyze, WinDbg or Visual Studio. It has no GC events: " + collect
	core    = "open it with dotnet-dump analyze, or lldb with SOS. It has no GC events: " + collect
)

// etl returns the first buffer of an ETW file.
func etl() string {
	b := make([]byte, 0x240)
	binary.LittleEndian.PutUint32(b, 0x10000)
	binary.LittleEndian.PutUint16(b[0x36:], 4)
	copy(b[0x48:], "\x02\x00\x02\xc0\xa8\x01\x00\x00")
	return string(b)
}

// serialized returns a FastSerialization stream with an object of the type
// name.
func serialized(name string) string {
	b := []byte("\x14\x00\x00\x00!FastSerialization.1\x04\x04\x01\x08\x00\x00\x00\x08\x00\x00\x00")
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	return string(b) + name + "\x06\x00\x00"
}

func TestRefusals(t *testing.T) {
	bare := plain(t)
	traceNamed := func(name string) member { return member{name, bare} }
	for _, c := range []struct {
		data string
		want string // after the name
	}{
		{"", "not a trace: " + empty},
		{strings.Repeat("\x00", 5000), "not a trace: nothing but zeros at its start; it was preallocated but never written, or not copied completely: copy it again"},
		{"2026-05-02 12:00:01 INFO  Starting the order service on port 8080\nnext", `not a trace: text that begins with "2026-05-02 12:00:01 INFO  Starting the…"; ` + reads},
		{"hello", `not a trace: text that begins with "hello"; ` + reads},
		{"\n", `not a trace: text that begins with ""; ` + reads},
		{strings.Repeat("é", 600)[1:], "not a trace: unknown data that begins with a9 c3 a9 c3 a9 c3 a9 c3; " + reads},
		{strings.Repeat("x", 1023) + "é", `not a trace: text that begins with "` + strings.Repeat("x", 40) + `…"; ` + reads},
		{"\x1b[2Jgone", `not a trace: text that begins with "\x1b[2Jgone"; ` + reads},
		{"\xff\xfeh\x00i\x00", "not a trace: text in UTF-16; " + reads},
		{"  <!DOCTYPE html>\n<html>", "not a trace: a web page; a login page is often saved in place of a download: download the file again"},
		{"\ufeff<?xml version=\"1.0\"?>", "not a trace: XML; " + reads},
		{`{"pid": 1}`, "not a trace: JSON; " + reads},
		{"\x01\x02\x03\x04\x00", "not a trace: unknown data that begins with 01 02 03 04 00; " + reads},

		{"\x57\x1d\xd1\x75\x00", "not supported: the metadata of an LTTng trace (CTF); " + folder},
		{"/* CTF 1.8 */", "not supported: the metadata of an LTTng trace (CTF); " + folder},
		{"\x1e{\n  \"type\": \"preamble\"", "not supported: the metadata of an LTTng trace (CTF); " + folder},
		{"\xc1\x1f\xfc\xc1\x00", "not supported: a part of an LTTng trace (CTF); " + folder},
		{"\xc1\xf1\xdc\xc1\x00", "not supported: the index of a part of an LTTng trace (CTF); " + folder},
		{serialized("GCHeapDump"), "not supported: a heap snapshot (.gcdump); it has no GC events; list its objects with: gctrail objects FILE"},
		{serialized("Microsoft.Diagnostics.Tracing.Etlx.TraceLog"), "not supported: PerfView's cache of a trace (.etlx); give the .etl or .nettrace it was made from"},
		{`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{}}`, "not supported: a speedscope profile; open it on speedscope.app, or give the .nettrace it was made from"},
		{`{"traceEvents":[]}`, "not supported: a Chromium trace (JSON); open it on ui.perfetto.dev, or give the .nettrace it was made from"},
		{"PERFILE2\x68\x00", "not supported: a recording of Linux perf; " + noGC},
		{"BZh91AY&SY", "not supported: a bzip2 archive; unpack it first"},
		{"7z\xbc\xaf\x27\x1c\x00", "not supported: a 7z archive; unpack it first"},
		{"Rar!\x1a\x07\x01\x00", "not supported: a RAR archive; unpack it first"},
		{"\x04\x22\x4d\x18\x60", "not supported: an lz4 archive; unpack it first"},
		{string(tarred("a.nettrace", bare[:100])), "not supported: a tar archive without an LTTng trace; unpack it first"},

		{"MDMP\x93\xa7\x00", "not a trace: a memory dump (Windows minidump); " + dump},
		{"\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x04\x00", "not a trace: a memory dump (ELF core); " + core},
		{"\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00", "not a trace: a program or library (ELF); " + collect},
		{"MZ\x90\x00\x03", "not a trace: a program or library (Windows); " + collect},
		{"MZ is a country code", `not a trace: text that begins with "MZ is a country code"; ` + reads},
		{"\xcf\xfa\xed\xfe" + strings.Repeat("\x00", 8) + "\x04\x00", "not a trace: a memory dump (macOS core); " + core},
		{"PAGEDU64\x0f\x00", "not a trace: a memory dump of Windows itself; open it with WinDbg. It has no GC events: " + collect},
		{"Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n11/27/2026 02:00:00,System.Runtime,CPU Usage (%),Metric,0\n", "not a trace: figures of dotnet-counters (CSV); open it with a spreadsheet. It has no GC events: " + collect},
		{`{ "TargetProcess": "web", "StartTime": "11/27/2026 2:00:00 AM", "Events": [`, "not a trace: figures of dotnet-counters (JSON); open it with any viewer of JSON. It has no GC events: " + collect},
		{`{"snapshot":{"meta":{"node_fields":["type","name"]`, "not a trace: a heap snapshot for Chrome's DevTools (.heapsnapshot); open it with DevTools, or give the .gcdump or .nettrace it was made from"},
		{"JAVA PROFILE 1.0.2\x00\x00\x00\x00\x08", "not a trace: a heap dump of Java (.hprof); open it with Eclipse MAT or VisualVM"},
		{"FLR\x00\x00\x02", "not a trace: a recording of Java Flight Recorder (.jfr); open it with JDK Mission Control"},
		{string(zstded([]byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x04\x00"))), "not a trace: a memory dump (ELF core), inside zstd; " + core},
		{"\xcf\xfa\xed\xfe\x07", "not a trace: a program or library (macOS); " + collect},
		{"\xca\xfe\xba\xbe\x00", "not a trace: a program or library (macOS); " + collect},
		{"SQLite format 3\x00", "not a trace: an SQLite database; " + reads},
		{"PAR1\x15", "not a trace: a Parquet file; " + reads},
		{"\x89PNG\r\n\x1a\n", "not a trace: a PNG picture; " + reads},
		{"\xff\xd8\xff\xe0", "not a trace: a JPEG picture; " + reads},
		{"%PDF-1.7\n", "not a trace: a PDF document; " + reads},

		{string(gzipped([]byte("hello"))), `not a trace: text that begins with "hello", inside gzip; ` + reads},
		{string(zstded([]byte("\x57\x1d\xd1\x75\x00"))), "not supported: the metadata of an LTTng trace (CTF), inside zstd; " + folder},
		{string(gzipped(gzipped(gzipped(gzipped(bare))))), "not supported: compressed more than three times, inside gzip+gzip+gzip; unpack it first"},
		{string(zstded(make([]byte, 80<<20), zstd.WithWindowSize(64<<20))), "not supported: zstd with a window of more than 32 MiB; unpack it first"},

		{string(zipped()), "not a trace: an empty zip; " + reads},
		{string(zipped(traceNamed("a"))[:20_000]), "not a trace: a zip without its directory, which comes last; the file is incomplete: copy it again"},
		{string(zipped(traceNamed("a.nettrace"), member{"b/c.txt", nil}, traceNamed("b/d"))), "not supported: a zip that holds 2 traces: a.nettrace, b/d; unpack it and give one or more of them"},
		{string(zipped(member{"v.txt", []byte("v")}, member{"w\x1b[2J", nil}, member{"x", nil}, member{"y", nil}, member{"z", nil})), `not a trace: a zip without a trace: v.txt, "w\x1b[2J", x and 2 more; ` + reads},
		{string(zipped(traceNamed("a.nettrace"), member{"a.etl", []byte(etl())})), "not supported: a zip that holds 2 traces: a.nettrace, a.etl; unpack it and give one or more of them"},
		{string(zipped(member{"a.zip", zipped(traceNamed("a"))})), "not supported: a zip that holds a.zip, a zip inside a zip; unpack it first"},
		{string(encrypted(bare)), "not supported: a zip that holds a, encrypted; unpack it first"},
		{string(packed(bare, 9)), "not supported: a zip that holds a, packed with Deflate64; unpack it first"},
		{string(packed(bare, 97)), "not supported: a zip that holds a, packed with zip's method 97; unpack it first"},
		{string(zipped(member{"a/metadata", []byte("\x57\x1d\xd1\x75\x00")}, member{"a/\x9b[31mred", nil})), `not supported: a zip with the invalid file name "a/\x9b[31mred"; unpack it first`},
		{string(gzipped(zipped(member{"a", nil}))), "not a trace: a zip without a trace: a, inside gzip; " + reads},

		{"\x1f\x8b\x08\x00", "gzip: unexpected EOF"},
		{string(gzipped([]byte("hello"))[:10]), "gzip: unexpected EOF"},
		{string(zstded([]byte("hello"))[:6]), "zstd: unexpected EOF"},
	} {
		path := write(t, "file", []byte(c.data))
		_, err := open.File(path, open.Options{})
		if err == nil {
			t.Errorf("opened, want %s", c.want)
			continue
		}
		var unknown *open.UnknownError
		isUnknown := errors.As(err, &unknown)
		want := path + ": " + c.want
		if !isUnknown {
			want = "open " + want
		}
		if err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if got, want := errors.Is(err, trace.ErrUnsupported), strings.HasPrefix(c.want, "not supported"); got != want {
			t.Errorf("%v: trace.ErrUnsupported %t", err, got)
		}
		if got, want := errors.Is(err, trace.ErrNotTrace), strings.HasPrefix(c.want, "not a trace"); got != want {
			t.Errorf("%v: trace.ErrNotTrace %t", err, got)
		}
		if want := strings.HasPrefix(c.want, "not "); isUnknown != want {
			t.Errorf("%v: UnknownError %t", err, isUnknown)
		}
	}
}

// TestRefusalsByName: the name describes a file whose content says little, and no other.
func TestRefusalsByName(t *testing.T) {
	unknown, elf := "\x01\x02\x03\x04\x00", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 9)+"\x04\x00"
	for _, c := range []struct{ name, data, want string }{
		{"a.dtp", unknown, "unknown data that begins with 01 02 03 04 00, and by its name a snapshot of dotTrace; open it with dotTrace. It has no GC events: " + collect},
		{"a.DTT", unknown, "unknown data that begins with 01 02 03 04 00, and by its name a timeline of dotTrace; open it with dotTrace. It has no GC events: " + collect},
		{"a.dmw", "<?xml version=\"1.0\"?>", "XML, and by its name a workspace of dotMemory; open it with dotMemory. It has no GC events: " + collect},
		{"a.diagsession", string(zipped(member{"metadata.xml", nil})), "a zip without a trace: metadata.xml, and by its name a session of Visual Studio's profiler; open it with Visual Studio. It has no GC events: " + collect},
		{"core.1.coredump", unknown, "unknown data that begins with 01 02 03 04 00, and by its name a memory dump; open it with dotnet-dump analyze. It has no GC events: " + collect},
		{"a.dmp", elf, "a memory dump (ELF core); " + core},
		{"a.mlpd", unknown, "unknown data that begins with 01 02 03 04 00, and by its name a recording of Mono's log profiler; open it with mprof-report. It has no GC events: " + collect},
		{"dtp", unknown, "unknown data that begins with 01 02 03 04 00; " + reads},
		{"a.dtp", "", empty},
	} {
		path := write(t, c.name, []byte(c.data))
		_, err := open.File(path, open.Options{})
		if want := path + ": not a trace: " + c.want; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// encrypted returns a zip whose only entry is marked as encrypted.
func encrypted(b []byte) []byte {
	z := zipped(member{"a", b[:100]})
	z[6] |= 1
	z[bytes.LastIndex(z, []byte("PK\x01\x02"))+8] |= 1
	return z
}

// packed returns a zip whose only entry is marked as packed with a method.
func packed(b []byte, method byte) []byte {
	z := zipped(member{"a", b[:100]})
	z[8] = method
	z[bytes.LastIndex(z, []byte("PK\x01\x02"))+10] = method
	return z
}

func TestFolder(t *testing.T) {
	bare := plain(t)
	for _, c := range []struct {
		members []member
		want    string
	}{
		{nil, "not a trace: a folder without a trace; " + reads},
		{[]member{{"a.txt", []byte("hello")}}, "not a trace: a folder without a trace; " + reads},
		{
			[]member{{"a.txt", []byte("hello")}, {"b", bare}, {"c/d.gz", gzipped(bare)}},
			"not a trace: a folder that holds c/d.gz, b; give one or more of them",
		},
		{
			[]member{{"ust/channel0", []byte("\xc1\x1f\xfc\xc1")}},
			"not supported: a folder that holds ust/channel0, a part of an LTTng trace (CTF); " + folder,
		},
		{
			[]member{{"metadata", []byte("name: a package\n")}},
			"not a trace: a folder without a trace; " + reads,
		},
		{
			[]member{{"metadata", []byte("/* CTF 1.8 */\nnonsense\n")}},
			`ctf: metadata: metadata at 0x0: metadata: 2: malformed: "nonsense" where a block belongs`,
		},
		{
			[]member{{"metadata", []byte("/* CTF 1.8 */\nnonsense\n")}, {"b", bare}},
			"not a trace: a folder that holds b; give one or more of them",
		},
		{
			[]member{{"metadata", nil}, {"channel0", []byte("\xc1\x1f\xfc\xc1")}},
			"ctf: metadata: metadata at 0x0: metadata: not a trace: empty",
		},
	} {
		dir := t.TempDir()
		for i, m := range c.members {
			path := filepath.Join(dir, m.name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, m.data, 0o644)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Time{}, time.Unix(int64(i), 0)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := open.File(dir, open.Options{})
		if err == nil || strings.TrimPrefix(err.Error(), "open ") != dir+": "+c.want {
			t.Errorf("got  %v\nwant %s: %s", err, dir, c.want)
		}
	}
}

// TestMetadata opens LTTng traces whose metadata cannot be read: the reason is reported,
// whatever the trace is wrapped in.
func TestMetadata(t *testing.T) {
	for _, c := range []struct {
		text, want string
		is         error
	}{
		{"/* CTF 1.8 */\nnonsense\n", `metadata: 2: malformed: "nonsense" where a block belongs`, trace.ErrMalformed},
		{"/* CTF 1.9 */\ntrace { major = 1; minor = 9; };\n", "metadata: 2: version not supported: minor 9 of CTF", trace.ErrUnsupportedVersion},
	} {
		dir := t.TempDir()
		paths := map[string][]byte{
			"folder/metadata": []byte(c.text),
			"a.zip":           zipped(member{"ust/metadata", []byte(c.text)}, member{"ust/channel0", []byte("x")}),
			"a.tar":           tarred("ust/metadata", []byte(c.text)),
		}
		for name, data := range paths {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
				t.Fatal(err)
			}
			if filepath.Base(name) == "metadata" {
				path = filepath.Dir(path)
			}
			_, err := open.File(path, open.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), "open "+path+": ") || !strings.HasSuffix(err.Error(), "metadata at 0x0: "+c.want) || !errors.Is(err, c.is) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	}
}

// TestBombs: input that expands to a gigabyte is refused by its first bytes, or read in
// the memory of a small trace.
func TestBombs(t *testing.T) {
	extent.Long(t, "packs four gigabytes")
	const gigabyte = 1 << 30
	bare := plain(t)
	for _, c := range []struct {
		name string
		head []byte
		pack func(io.Writer) io.WriteCloser
	}{
		{"gzip of zeros", nil, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
		{"zstd of zeros", nil, newZstd},
		{"gzip of a trace, then zeros", bare, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
		{"zstd of a trace, then zeros", bare, newZstd},
	} {
		var buf bytes.Buffer
		w := c.pack(&buf)
		w.Write(c.head)
		zeros := make([]byte, 1<<20)
		for range gigabyte / len(zeros) {
			w.Write(zeros)
		}
		w.Close()

		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in, err := open.Reader(&buf, c.name, open.Options{})
		if err == nil {
			read(t, in)
			in.Close()
		}
		runtime.ReadMemStats(&after)
		if (err == nil) != (c.head != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 48<<20 {
			t.Errorf("%s: %d MiB allocated", c.name, n>>20)
		}
	}
}

func newZstd(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
}
