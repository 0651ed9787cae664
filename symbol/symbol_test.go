package symbol

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

const second = time.Second

func load(id, start uint64, size uint32, name string) *clr.MethodLoadVerbose {
	return &clr.MethodLoadVerbose{
		MethodID: id, MethodStartAddress: start, MethodSize: size,
		MethodNamespace: clr.NewUTF16("N.T"), MethodName: clr.NewUTF16(name), MethodSignature: clr.NewUTF16("instance void  (int32)"),
	}
}

func unload(l *clr.MethodLoadVerbose) *clr.MethodUnloadVerbose {
	u := clr.MethodUnloadVerbose(*l)
	return &u
}

func listed(l *clr.MethodLoadVerbose) *clr.MethodDCEndVerbose {
	u := clr.MethodDCEndVerbose(*l)
	return &u
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ namespace, name, signature, want string }{
		{"System.Collections.Generic.List`1[System.__Canon]", "AddWithResize", "instance void  (!0)", "System.Collections.Generic.List`1[System.__Canon].AddWithResize(!0)"},
		{"System.Number", ".cctor", "void  ()", "System.Number..cctor()"},
		{"dynamicClass", "IL_STUB_PInvoke", "int32 (int32)", "dynamicClass.IL_STUB_PInvoke(int32)"},
		{"", "f", "", "f"},
		{"N.T", "g", "no parameters", "N.T.g"},
	} {
		got := appendName(nil, clr.NewUTF16(c.namespace), clr.NewUTF16(c.name), clr.NewUTF16(c.signature))
		if string(got) != c.want {
			t.Errorf("%s %s %s: %s, expected %s", c.namespace, c.name, c.signature, got, c.want)
		}
	}
}

// TestResolveByTime: an address that is used again belongs to the method that was loaded there
// last.
func TestResolveByTime(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var table Table
	old, then, now := load(1, 0x1000, 0x100, "old"), load(2, 0x1040, 0x100, "then"), load(3, 0x1000, 0x200, "now")
	for _, ev := range []*trace.Event{
		m.At(2*second, unload(old)), // loaded before the trace
		m.At(3*second, then),
		m.At(4*second, unload(then)),
		m.At(5*second, now),
		m.At(9*second, listed(now)),
		m.At(9*second, listed(load(4, 0x5000, 0x10, "quiet"))),
	} {
		table.Feed(ev)
	}
	for _, c := range []struct {
		addr uint64
		at   time.Duration
		want string
	}{
		{0x1000, 1 * second, "N.T.old(int32)"},
		{0x10ff, 1 * second, "N.T.old(int32)"},
		{0x1100, 1 * second, "N.T.then(int32)"}, // not loaded yet: the first that was
		{0x1050, 3 * second, "N.T.then(int32)"},
		{0x1050, 4 * second, "N.T.now(int32)"},
		{0x1050, 6 * second, "N.T.now(int32)"},
		{0x11ff, 6 * second, "N.T.now(int32)"},
		{0x1200, 6 * second, "?"},
		{0xfff, 6 * second, "?"},
		{0x5000, 1 * second, "N.T.quiet(int32)"},
	} {
		if got := table.Resolve(7, c.addr, c.at).String(); got != c.want {
			t.Errorf("%#x at %v: %s, expected %s", c.addr, c.at, got, c.want)
		}
	}
	if got := table.Resolve(8, 0x1000, 0); got.Resolved() {
		t.Errorf("another process: %v", got)
	}
	if table.Methods() != 4 {
		t.Errorf("%d methods, expected 4: what is listed was loaded", table.Methods())
	}
}

func frames(s *Stacks, id StackID) []string {
	var names []string
	for f := range s.Frames(id) {
		names = append(names, f.String())
	}
	return names
}

// A stack keeps the code that was at its addresses when it was taken.
func TestStacksOfReplacedCode(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var table Table
	s := NewStacks(&table)
	first, second1 := load(1, 0x1000, 0x100, "first"), load(2, 0x1000, 0x80, "second")
	sample := func(at time.Duration, stack ...uint64) StackID {
		return s.Intern(m.At(at, &clr.GCTriggered{}, stack...))
	}

	a := sample(1*second, 0x1010, 0x9000)
	table.Feed(m.At(2*second, unload(first)))
	table.Feed(m.At(2*second, second1))
	b := sample(3*second, 0x1010, 0x9000)
	c := sample(4*second, 0x1010, 0x9000)
	d := sample(4*second, 0x1020, 0x9000)
	table.Feed(m.At(9*second, listed(load(5, 0x9000, 1, "main"))))

	if want := []string{"N.T.first(int32)", "N.T.main(int32)"}; !slices.Equal(frames(s, a), want) {
		t.Errorf("before: %v, expected %v", frames(s, a), want)
	}
	if want := []string{"N.T.second(int32)", "N.T.main(int32)"}; !slices.Equal(frames(s, b), want) {
		t.Errorf("after: %v, expected %v", frames(s, b), want)
	}
	if b != c || a == b || b == d {
		t.Errorf("stacks %d %d %d %d, expected only the second and third to be one", a, b, c, d)
	}
	if merged := s.Merged(); merged[b] != merged[d] || merged[a] == merged[b] {
		t.Errorf("merged %d %d %d, expected the last two to be one", merged[a], merged[b], merged[d])
	}
	if got := sample(5 * second); got != NoStack {
		t.Errorf("no addresses: stack %d", got)
	}
}

// Stacks without end take no memory without end.
func TestStacksAreBounded(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var table Table
	s := NewStacks(&table)
	known := s.Intern(m.At(0, &clr.GCTriggered{}, 1, 2, 3))
	other := 0
	for i := range uint64(maxAddresses + 100) {
		if s.Intern(m.At(0, &clr.GCTriggered{}, 0x10000+i, 2, 3)) == OtherStacks {
			other++
		}
	}
	if len(s.addrs) > maxAddresses || len(s.nodes) > maxNodes {
		t.Errorf("%d addresses and %d frames are kept", len(s.addrs), len(s.nodes))
	}
	if other != 103 {
		t.Errorf("%d stacks are others, expected 103", other)
	}
	if again := s.Intern(m.At(0, &clr.GCTriggered{}, 1, 2, 3)); again != known {
		t.Errorf("a known stack became %d, it was %d", again, known)
	}
	if got := frames(s, OtherStacks); got != nil {
		t.Errorf("frames of other stacks: %v", got)
	}
}

func TestTypes(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var types Types
	types.Feed(m.At(0, &clr.BulkType{Count: 3, Values: []clr.BulkTypeValue{
		{TypeID: 1, Name: clr.NewUTF16("System.Int32")},
		{TypeID: 2, Name: clr.NewUTF16("System.Collections.Generic.List`1"), TypeParameters: []uint64{1}},
		{TypeID: 3, Name: clr.NewUTF16("Loop`1"), TypeParameters: []uint64{3}},
	}}))
	for id, want := range map[uint64]string{1: "System.Int32", 2: "System.Collections.Generic.List`1[System.Int32]", 9: ""} {
		if got := types.Name(7, id); got != want {
			t.Errorf("type %d: %q, expected %q", id, got, want)
		}
	}
	if got := types.Name(7, 3); len(got) > 200 {
		t.Errorf("a type of itself: %s", got)
	}
}

// FuzzTable feeds arbitrary payloads to a table, and then resolves stacks with it.
func FuzzTable(f *testing.F) {
	m := tracetest.Maker{PID: 7}
	f.Add(m.At(0, load(1, 0x1000, 0x100, "name")).Payload, m.At(0, load(2, 0x1010, 0xffffffff, "x")).Payload, uint64(0x1010))
	f.Fuzz(func(t *testing.T, a, b []byte, addr uint64) {
		m := tracetest.Maker{PID: 7}
		var table Table
		s := NewStacks(&table)
		shown := m.At(1, &clr.GCTriggered{}, addr, addr+1)
		for i, payload := range [][]byte{a, b, a} {
			for _, like := range []clr.Event{&clr.MethodLoadVerbose{}, &clr.MethodUnloadVerbose{}, &clr.MethodDCEndVerbose{}, &clr.ModuleDCEnd{}} {
				ev := m.At(time.Duration(i), like)
				ev.Payload = payload
				table.Feed(ev)
				id := s.Intern(shown)
				if n := len(frames(s, id)); n != 2 {
					t.Fatalf("%d frames, expected 2", n)
				}
			}
		}
		if len(s.Merged()) != s.Len() {
			t.Fatal("not every stack is merged")
		}
	})
}

func BenchmarkIntern(b *testing.B) {
	m := tracetest.Maker{PID: 7}
	var table Table
	s := NewStacks(&table)
	var events []*trace.Event
	for i := range uint64(200) {
		stack := make([]uint64, 40)
		for j := range stack {
			stack[j] = 0x1000 + uint64(j)*64
		}
		stack[0] = i
		events = append(events, m.At(0, &clr.GCTriggered{}, stack...))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Intern(events[i%len(events)])
		i++
	}
}
