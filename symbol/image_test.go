package symbol

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

var le = binary.LittleEndian

// kernelImage makes up an event of the kernel's image provider, version 3.
func kernelImage(opcode uint8, at time.Duration, pid uint32, base, size uint64, path string) *trace.Event {
	b := le.AppendUint64(nil, base)
	b = le.AppendUint64(b, size)
	b = le.AppendUint32(b, pid)
	b = append(b, make([]byte, 3*4)...)
	b = le.AppendUint64(b, base)
	b = append(b, make([]byte, 4*4)...)
	for _, u := range utf16.Encode([]rune(path + "\x00")) {
		b = le.AppendUint16(b, u)
	}
	return of(kernelImages, trace.Descriptor{Opcode: opcode, ID: uint32(opcode)}, at, 0xffffffff, b)
}

func of(provider string, d trace.Descriptor, at time.Duration, pid uint64, payload []byte) *trace.Event {
	d.Provider = provider
	return &trace.Event{Desc: &d, Ticks: int64(at), Clock: &trace.Clock{Frequency: int64(second)}, PID: pid, PointerSize: 8, Payload: payload}
}

// varints appends numbers, and then a string after its length.
func varints(name string, numbers ...uint64) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	b = le.AppendUint16(b, uint16(len(name)))
	return append(b, name...)
}

// TestImages: a file's mapping names addresses that belong to no method, at its time, and
// reports whether a name could be expected.
func TestImages(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var table Table
	for _, ev := range []*trace.Event{
		kernelImage(imageLoad, 2*second, 7, 0x1000, 0x1000, `\Device\HarddiskVolume1\Windows\old.dll`),
		kernelImage(imageUnload, 4*second, 7, 0x1000, 0x1000, `\Device\HarddiskVolume1\Windows\old.dll`),
		kernelImage(imageLoad, 5*second, 7, 0x1000, 0x2000, `C:\new.dll`),
		kernelImage(imageDCEnd, 9*second, 7, 0x1000, 0x2000, `C:\new.dll`),
		kernelImage(imageDCStart, 0, 7, 0x8000, 0x1000, `C:\App.dll`),
		kernelImage(imageDCStart, 0, kernelPID, 0xf000, 0x1000, `\SystemRoot\ntoskrnl.exe`),
		kernelImage(imageLoad, 0, 7, ^uint64(0), 2, "wraps.dll"),
		of(kernelImages, trace.Descriptor{Opcode: imageLoad}, 0, 7, []byte{1, 2, 3}),
		m.At(9*second, &clr.ModuleDCEnd{ModuleID: 1, ModuleILPath: clr.NewUTF16(`c:\app.dll`)}),
		m.At(9*second, listed(load(1, 0x8100, 0x10, "f"))),
	} {
		table.Feed(ev)
	}
	for _, c := range []struct {
		addr uint64
		at   time.Duration
		want string
		why  Reason
	}{
		{0x1010, 3 * second, "old.dll!0x10", Native},
		{0x1010, 6 * second, "new.dll!0x10", Native},
		{0x2010, 6 * second, "new.dll!0x1010", Native},
		{0x8010, 6 * second, "App.dll!0x10", Unlisted},
		{0x8100, 6 * second, "N.T.f(int32)", Named},
		{0xf010, 6 * second, "ntoskrnl.exe!0x10", Native},
		{0x7000, 6 * second, "?", Unlisted},
	} {
		if got := table.Resolve(7, c.addr, c.at); got.String() != c.want || got.Why != c.why {
			t.Errorf("%#x at %v: %s for reason %d, expected %s, %d", c.addr, c.at, got, got.Why, c.want, c.why)
		}
	}
	if got := table.Resolve(8, 0x7000, 0); got.Why != NoMethods {
		t.Errorf("a process of which nothing is known: reason %d, expected %d", got.Why, NoMethods)
	}
}

// collect-linux writes files and methods as events of its own.
func TestUniversalSymbols(t *testing.T) {
	var table Table
	mapping := func(at time.Duration, pid uint64, payload []byte) {
		table.Feed(of(systemProvider, trace.Descriptor{ID: processMapping}, at, pid, payload))
	}
	symbol := func(pid uint64, payload []byte) {
		table.Feed(of(systemProvider, trace.Descriptor{ID: processSymbol}, 9*second, pid, payload))
	}
	mapping(0, 7, varints("/usr/lib/libc.so.6", 1, 0x1000, 0x2000, 0x400))
	mapping(0, 7, varints("/memfd:doublemapper (deleted)", 2, 0x5000, 0x6000, 0))
	mapping(0, 7, varints("//anon", 3, 0x6000, 0x7000, 0))
	mapping(0, 7, varints("/cut", 4, 0x7000, 0x8000, 0)[:5])
	symbol(7, varints("instance void [System.Private.CoreLib] System.IO.Stream::Close()[OptimizedTier1]", 1, 2, 0x5010, 0x5020))
	symbol(7, varints("malloc", 2, 1, 0x1010, 0x1020))
	symbol(7, varints("empty", 3, 1, 0x1030, 0x1030))
	symbol(8, varints("other", 3, 1, 0x1040, 0x1050))
	for addr, want := range map[uint64]string{
		0x1000: "libc.so.6!0x400", 0x1015: "malloc", 0x1030: "libc.so.6!0x430", 0x1040: "libc.so.6!0x440",
		0x5010: "System.IO.Stream.Close()", 0x5030: "?", 0x6010: "?", 0x7010: "?",
	} {
		if got := table.Resolve(7, addr, second).String(); got != want {
			t.Errorf("%#x: %s, expected %s", addr, got, want)
		}
	}
}

// Precompiled methods reach to the next one that is called, and what the rundown
// says of them counts for more.
func TestEntryPoints(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var table Table
	entry := func(id, at uint64, name string) *clr.R2RGetEntryPoint {
		return &clr.R2RGetEntryPoint{
			MethodID: id, EntryPoint: at, MethodNamespace: clr.NewUTF16("N.T"),
			MethodName: clr.NewUTF16(name), MethodSignature: clr.NewUTF16("void  ()"),
		}
	}
	for _, ev := range []*trace.Event{
		m.At(1*second, entry(3, 0x3000, "third")),
		m.At(2*second, entry(1, 0x1000, "first")),
		m.At(2*second, entry(1, 0x1000, "first")),
		m.At(3*second, entry(2, 0x2000, "second")),
		m.At(3*second, entry(4, ^uint64(0), "wraps")),
		m.At(9*second, listed(load(2, 0x2000, 0x80, "second"))),
	} {
		table.Feed(ev)
	}
	for addr, want := range map[uint64]string{
		0x1000: "N.T.first()", 0x1fff: "N.T.first()", 0x207f: "N.T.second()", 0x2080: "?",
		0x3010: "N.T.third()", 0x3000 + maxPrecompiled: "?",
	} {
		if got := table.Resolve(7, addr, second).String(); got != want {
			t.Errorf("%#x: %s, expected %s", addr, got, want)
		}
	}
}

func TestPerfMap(t *testing.T) {
	const file = `00007F1000 20 void [app] Shop.Cart+Line::.ctor(int32,string[])[QuickJitted]
0x00007F2000 10 instance bool [System.Private.CoreLib] System.Collections.Generic.List` + "`1[System.__Canon]" + `::Add(!0)
7F3000 40 stub GenerateResolveStub<ResolveStub>
7F4000 zz no size
nonsense
7F5000 10
`
	var table Table
	if err := table.ReadPerfMap(7, strings.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64]string{
		0x7f1010: "Shop.Cart+Line..ctor(int32,string[])",
		0x7f2000: "System.Collections.Generic.List`1[System.__Canon].Add(!0)",
		0x7f3000: "stub GenerateResolveStub<ResolveStub>",
		0x7f4000: "?", 0x7f5000: "?",
	} {
		if got := table.Resolve(7, addr, second).String(); got != want {
			t.Errorf("%#x: %s, expected %s", addr, got, want)
		}
	}
	if err := table.ReadPerfMap(7, strings.NewReader("{}\n")); err == nil {
		t.Error("no error for a file that is no perf map")
	}
	if err := table.ReadPerfMap(7, strings.NewReader(strings.Repeat("x", maxPerfLine+1))); err == nil {
		t.Error("no error for an endless line")
	}
}
