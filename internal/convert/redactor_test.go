package convert

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

const second = time.Second

// isHash matches the replacement of a name.
var isHash = regexp.MustCompile(`^x[0-9a-f]{12}$`)

// fieldsOf redacts an event and returns its fields.
func fieldsOf[E clr.Event](t *testing.T, r *Redactor, ev *trace.Event, e E) E {
	t.Helper()
	if err := e.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize); err != nil {
		t.Fatal(err)
	}
	if !r.Fields(ev, e) {
		t.Fatalf("%T is left out", e)
	}
	return e
}

// TestIDs checks that ids are replaced one to one, within the width of a pointer, and that
// zero stays.
func TestIDs(t *testing.T) {
	p := NewRedactor(RedactOptions{}).ids
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{4, 8}).Draw(t, "size")
		most := uint64(1)<<(2*halfOf8) - 1
		if size == 4 {
			most = 1<<32 - 1
		}
		a, b := rapid.Uint64Range(0, most).Draw(t, "a"), rapid.Uint64Range(0, most).Draw(t, "b")
		x, y := p.id(a, size), p.id(b, size)
		if (x == y) != (a == b) || (x == 0) != (a == 0) || x > most {
			t.Fatalf("%#x and %#x become %#x and %#x", a, b, x, y)
		}
	})
}

// TestKeys checks that two Redactors have nothing in common, and that one is consistent.
func TestKeys(t *testing.T) {
	a, b := NewRedactor(RedactOptions{}), NewRedactor(RedactOptions{})
	first := a.Name("Acme")
	if a.Name("Acme") != first || b.Name("Acme") == first || a.ids.id(7, 8) == b.ids.id(7, 8) {
		t.Error("the key is not that of a Redactor")
	}
	if a.Name("") != "" || !isHash.MatchString(a.Name("Acme")) {
		t.Errorf("%q, %q", a.Name(""), a.Name("Acme"))
	}
}

func TestVersionOf(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/libcoreclr.so":         "/Microsoft.NETCore.App/10.0.12/",
		`C:\Program Files\dotnet\shared\Microsoft.NETCore.App\3.1.32\coreclr.dll`:      "/Microsoft.NETCore.App/3.1.32/",
		"/d/shared/Microsoft.NETCore.App/10.0.0-preview.7.25380.108/libcoreclr.so":     "/Microsoft.NETCore.App/10.0.0-preview.7.25380.108/",
		"/d/shared/Microsoft.NETCore.App/3.1.0-acme.payroll/libcoreclr.so":             "/Microsoft.NETCore.App/3.1.0/",
		"/home/alice/Microsoft.NETCore.App.Acme-Payroll/customers/bobby/libcoreclr.so": "",
		"/home/alice/Microsoft.NETCore.App/customers/bobby/libcoreclr.so":              "",
		"/srv/acme/libcoreclr.so": "",
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12-acme/alice/libcoreclr.so": "/Microsoft.NETCore.App/10.0.12/",
	} {
		if got := versionOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	r := NewRedactor(RedactOptions{})
	got := strings.Split(r.settings("DOTNET_gcServer=1\nCOMPlus_GCHeapHardLimit=0xC000000\nDOTNET_GCName=libacme.so\nDOTNET_GCAcme=1"), "\n")
	if want := []string{"DOTNET_gcServer=1", "COMPlus_GCHeapHardLimit=0xC000000", "DOTNET_GCName=…"}; !slices.Equal(got[:3], want) {
		t.Errorf("%q, want %q", got[:3], want)
	}
	if name, value, _ := strings.Cut(got[3], "="); !isHash.MatchString(name) || value != "1" {
		t.Errorf("a name that is nobody's: %q", got[3])
	}
	if got := r.platform("Linux") + r.platform("arm64"); got != "Linuxarm64" || !isHash.MatchString(r.platform("AcmeOS")) {
		t.Errorf("platforms: %q", got)
	}
}

// TestUndefinedIsLeftOut checks that events that the runtime does not define are left out
// whatever they call themselves, and that nothing of a kind stays but what it defines.
func TestUndefinedIsLeftOut(t *testing.T) {
	r := NewRedactor(RedactOptions{})
	for _, d := range []*trace.Descriptor{
		{Provider: "Acme", ID: 1, Name: "Secret"},
		{Provider: clr.RuntimeProvider, ID: 9999, Name: "Secret"},
		{Provider: clr.SampleProvider, ID: 1},
		{Provider: clr.RundownProvider, ID: clr.KindMethodDCEndILToNativeMap.ID()},
	} {
		if r.Descriptor(d) != nil {
			t.Errorf("%s %d stays", d.Provider, d.ID)
		}
	}
	own := &trace.Descriptor{Provider: clr.RuntimeProvider, ID: 1, Version: 77, Name: "Acme", Fields: []trace.Field{{Name: "Acme"}}}
	if got := r.Descriptor(own); got.Name != "" || got.Fields != nil || got.Version != 2 {
		t.Errorf("%+v", got)
	}
	if got := r.Descriptor(&trace.Descriptor{Provider: clr.EventPipeProvider, ID: 1, Version: 1, Name: "Acme"}); got.Name != "ProcessInfo" || len(got.Fields) != 3 {
		t.Errorf("%+v", got)
	}
	sample := &trace.Descriptor{Provider: clr.SampleProvider}
	for payload, want := range map[string]bool{"\x01\x00\x00\x00": true, "\x01\x00\x00A": false, "Acme": false, "\x01\x00\x00\x00A": false} {
		if _, ok := r.Sample(nil, &trace.Event{Desc: sample, Payload: []byte(payload)}); ok != want {
			t.Errorf("a sample of %q: %t", payload, ok)
		}
	}
	m := tracetest.Maker{PID: 7}
	if r.Fields(m.At(0, &clr.GCStart{}), &clr.GCDynamicEvent{Name: clr.NewUTF16("Acme")}) {
		t.Error("an unknown dynamic event stays")
	}
	data := append(make([]byte, clr.DynamicCommittedUsage.Size()), "Acme"...)
	e := &clr.GCDynamicEvent{Name: clr.NewUTF16("CommittedUsage"), Data: data, DataSize: uint32(len(data))}
	if !r.Fields(m.At(0, e), e) || len(e.Data) != 42 || e.DataSize != 42 {
		t.Errorf("%d bytes of a dynamic event stay", len(e.Data))
	}
}

// TestStacks checks that the frames of stacks have the same methods as before, though code
// is unloaded and its place used again, and that no address and no size is left.
func TestStacks(t *testing.T) {
	method := func(id, start uint64, size uint32, name string) *clr.MethodLoadVerbose {
		return &clr.MethodLoadVerbose{
			MethodID: id, MethodStartAddress: start, MethodSize: size, MethodToken: 0x6000001,
			MethodNamespace: clr.NewUTF16("N.T"), MethodName: clr.NewUTF16(name), MethodSignature: clr.NewUTF16("void ()"),
		}
	}
	first, then := method(1, 0x7f0000001000, 0x100, "first"), method(2, 0x7f0000001000, 0x80, "then")
	unloaded := clr.MethodUnloadVerbose(*first)
	last := clr.MethodDCEndVerbose(*method(3, 0x7f0000005000, 0x40, "last"))
	m := tracetest.Maker{PID: 7}
	var stacks []*trace.Event
	seen := func(at time.Duration, stack ...uint64) *trace.Event {
		ev := m.At(at, &clr.GCTriggered{}, stack...)
		stacks = append(stacks, ev)
		return ev
	}
	events := []*trace.Event{
		m.At(1*second, first), seen(2*second, 0x7f0000001010, 0x7f0000005020), seen(3*second, 0x7f00000010ff, 0x7f0000009999),
		m.At(4*second, &unloaded), m.At(5*second, then), seen(6*second, 0x7f0000001010), m.At(9*second, &last),
	}
	r := NewRedactor(RedactOptions{})
	for _, ev := range events {
		r.Learn(ev)
	}
	var table symbol.Table
	for _, ev := range events {
		e := clr.KindOf(ev.Desc.Provider, ev.Desc.ID).New()
		out := *ev
		fieldsOf(t, r, ev, e)
		out.Payload = e.Append(nil, ev.Desc.Version, 8)
		table.Feed(&out)
		if v, ok := e.(*clr.MethodLoadVerbose); ok && (v.MethodSize != slotSize || v.MethodToken != 0 || len(v.MethodSignature) > 0) {
			t.Errorf("%+v", v)
		}
	}
	var got []string
	for _, ev := range stacks {
		for _, address := range r.AppendStack(nil, ev) {
			if address >= 1<<32 {
				t.Errorf("address %#x", address)
			}
			got = append(got, table.Resolve(7, address, ev.Time()).String())
		}
	}
	of := func(name string) string { return r.Name("N.T") + "." + r.Name("N.T\x00"+name+"\x00void ()") }
	if want := []string{of("first"), of("last"), of("first"), "?", of("then")}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestEveryEventIsClean fills every text, every list of bytes and every GUID of every event
// with something to hide, and searches what is written.
func TestEveryEventIsClean(t *testing.T) {
	const secret = "AcmeSecret/shop"
	for _, keep := range []bool{false, true} {
		r := NewRedactor(RedactOptions{KeepSystem: keep})
		for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
			for version := range k.Versions() {
				e := k.New()
				hide(reflect.ValueOf(e).Elem(), secret)
				ev := &trace.Event{
					Desc:  &trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: version, Name: secret},
					Clock: &trace.Clock{Frequency: 1e9}, PointerSize: 8,
				}
				d := r.Descriptor(ev.Desc)
				if d == nil || !r.Fields(ev, e) {
					continue
				}
				payload := e.Append(nil, version, 8)
				if wide := clr.NewUTF16(secret[:6]); strings.Contains(string(payload), secret[:6]) || strings.Contains(string(payload), string(wide)) || d.Name == secret {
					t.Errorf("%v, version %d: %q", k, version, payload)
				}
			}
		}
	}
}

// hide sets the texts, bytes and GUIDs of a struct, and of one in each list.
func hide(v reflect.Value, secret string) {
	for i := range v.NumField() {
		switch f := v.Field(i).Addr().Interface().(type) {
		case *clr.UTF16:
			*f = clr.NewUTF16(secret)
		case *clr.ANSI:
			*f = clr.ANSI(secret)
		case *[]byte:
			*f = []byte(secret)
		case *clr.GUID:
			copy(f[:], secret)
		default:
			if list := v.Field(i); list.Kind() == reflect.Slice && list.Type().Elem().Kind() == reflect.Struct {
				list.Set(reflect.MakeSlice(list.Type(), 2, 2))
				hide(list.Index(1), secret)
			}
		}
	}
}
