package tsdl_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

const head = "/* CTF 1.8 */\ntypealias integer { size = 8; } := u8;\ntypealias integer { size = 16; signed = 1; align = 1; } := long int;\n"

// Types are read as a field of an event, and written as typeText does.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"u8 _a;", "struct/8{a:u8/8}"},
		{"u8 __a, b;", "struct/8{_a:u8/8 b:u8/8}"},
		{"long int a;", "struct/1{a:i16/1}"},
		{"const u8 a;", "struct/8{a:u8/8}"},
		{"integer { size = 5; } a;", "struct/1{a:u5/1}"},
		{"integer { size = 0x20; align = 32; signed = TRUE; byte_order = be; base = hex; } a;", "struct/32{a:i32be/32}"},
		{"integer { size = 8; encoding = ASCII; } a[4];", "struct/8{a:[4]text/8}"},
		{"floating_point { exp_dig = 8; mant_dig = 24; align = 32; byte_order = le; } a;", "struct/32{a:f32le/32}"},
		{"string a; string { encoding = UTF8; } b;", "struct/8{a:string/8 b:string/8}"},
		{"u8 a[2][3];", "struct/8{a:[2][3]u8/8}"},
		{"u8 _n; u8 a[_n];", "struct/8{n:u8/8 a:[0:n]u8/8}"},
		{"u8 a[stream.event.context._n.m];", "struct/8{a:[4:n.m]u8/8}"},
		{"struct { u8 a; } align(64) s;", "struct/64{s:struct/64{a:u8/8}}"},
		{"typealias integer { size = 3; } := three; three a;", "struct/1{a:u3/1}"},
		{"enum : u8 { A, \"B b\" = 4, C, D = -2 ... 3, } e;", "struct/8{e:enum(A=0..0 B b=4..4 C=5..5 D=18446744073709551614..3)u8/8}"},
		{"enum : u8 { a, b } t; variant <t> { u8 a; string b; } v;", "struct/8{t:enum(a=0..0 b=1..1)u8/8 v:variant<0:t>{a:u8/8 b:string/8}}"},
		{"// comment\nu8 /* another */ a;", "struct/8{a:u8/8}"},
	} {
		tr, err := tsdl.Parse([]byte(head + "event { name = \"e\"; id = 1; stream_id = 2; fields := struct {" + c.text + "}; };"))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := typeText(tr.Streams[0].Events[0].Payload); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// typeText writes a type with its alignment.
func typeText(t *tsdl.Type) string {
	order := [...]string{"", "le", "be"}[t.Order]
	ref := fmt.Sprintf("%d:%s", t.Ref.Scope, strings.Join(t.Ref.Path, "."))
	switch t.Kind {
	case tsdl.Int:
		var labels []string
		for _, m := range t.Labels {
			for _, r := range m.Ranges {
				labels = append(labels, fmt.Sprintf("%s=%d..%d", m.Label, r.Lo, r.Hi))
			}
		}
		s := fmt.Sprintf("u%d%s/%d", t.Size, order, t.Align)
		switch {
		case t.Text:
			s = fmt.Sprintf("text/%d", t.Align)
		case t.Signed:
			s = "i" + s[1:]
		}
		if labels != nil {
			s = "enum(" + strings.Join(labels, " ") + ")" + s
		}
		return s
	case tsdl.VarInt:
		return "varint"
	case tsdl.Float:
		return fmt.Sprintf("f%d%s/%d", t.Size, order, t.Align)
	case tsdl.String:
		return fmt.Sprintf("string/%d", t.Align)
	case tsdl.Array:
		return fmt.Sprintf("[%d]%s", t.Length, typeText(t.Elem))
	case tsdl.Dynamic:
		return "[" + ref + "]" + typeText(t.Elem)
	case tsdl.Struct:
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, f.Name+":"+typeText(f.Type))
		}
		return fmt.Sprintf("struct/%d{%s}", t.Align, strings.Join(fields, " "))
	}
	var options []string
	for _, o := range t.Options {
		options = append(options, o.Name+":"+typeText(o.Type))
	}
	return "variant<" + ref + ">{" + strings.Join(options, " ") + "}"
}

func TestErrors(t *testing.T) {
	event := func(fields string) string { return head + "event { fields := struct { " + fields + " }; };" }
	for _, c := range []struct {
		text string
		want string
		is   error
	}{
		{"", "metadata: not a trace: empty", trace.ErrNotTrace},
		{"hello", `not a trace: metadata: 1: malformed: "hello" where a block belongs`, trace.ErrNotTrace},
		{"trace { major = 2; };", "metadata: 1: version not supported: major 2 of CTF", trace.ErrUnsupportedVersion},
		{"typealias integer { size = 8; } := u8; trace { minor = 9; };", "metadata: 1: version not supported: minor 9 of CTF", trace.ErrUnsupportedVersion},
		{"/* CTF 1.8 */\nhello", `metadata: 2: malformed: "hello" where a block belongs`, trace.ErrMalformed},
		{"trace hello", `metadata: 1: malformed: "hello" where "{" belongs`, trace.ErrMalformed},
		{"\x1e{}", "metadata: 1: malformed: JSON without a preamble", trace.ErrMalformed},
		{head + "trace {", "metadata: 4: malformed: the text ends where an attribute belongs", trace.ErrMalformed},
		{head + "\x01", `metadata: 4: malformed: character '\x01'`, trace.ErrMalformed},
		{head + "env { a = \"b; };", "metadata: 4: malformed: string without an end", trace.ErrMalformed},
		{event("u9 a;"), `metadata: 4: malformed: type "u9" is not defined`, trace.ErrMalformed},
		{event("integer { size = 65; } a;"), "metadata: 4: malformed: integer of 65 bits", trace.ErrMalformed},
		{event("integer { size = 99999999999; } a;"), "metadata: 4: malformed: integer of 1048576 bits", trace.ErrMalformed},
		{event("integer { size = 8; align = 3; } a;"), "metadata: 4: malformed: alignment of 3 bits", trace.ErrMalformed},
		{event("integer { size = 8; align = 65536; } a;"), "metadata: 4: malformed: alignment of 65536 bits", trace.ErrMalformed},
		{event("floating_point { exp_dig = 1; mant_dig = 2; } a;"), "metadata: 4: malformed: floating point number of 3 bits", trace.ErrMalformed},
		{event("enum : string { } { A } a;"), "metadata: 4: malformed: an enumeration of a type other than integer", trace.ErrMalformed},
		{event("enum { A } a;"), "metadata: 4: malformed: an enumeration of type int, which is not defined", trace.ErrMalformed},
		{event("u8 a" + strings.Repeat("[1]", 100) + ";"), "metadata: 4: malformed: types nested more than 32 deep", trace.ErrMalformed},
		{event(strings.Repeat("struct { ", 100)), "metadata: 4: malformed: types nested more than 32 deep", trace.ErrMalformed},
		{head + "clock { freq = 0; };", "metadata: 4: malformed: clock without a frequency", trace.ErrMalformed},
		{"{}", "not a trace: metadata: 1: malformed: JSON without a preamble", trace.ErrNotTrace},
		{`{"type":"preamble","version":3}`, "metadata: 1: version not supported of CTF", trace.ErrUnsupportedVersion},
		{preamble + `{"type":"field-class-alias","name":"a","field-class":{"type":"odd"}}`, `metadata: 2: malformed: field class of type "odd"`, trace.ErrMalformed},
		{preamble + `{"type":"trace-class","extensions":{"x":1}}`, "metadata: 2: version not supported: extensions", trace.ErrUnsupportedVersion},
		{preamble + `{"type":"event-record-class","payload-field-class":"nothing"}`, `metadata: 2: malformed: field class "nothing" is not defined`, trace.ErrMalformed},
		{preamble + `{"type":`, "metadata: 2: unexpected EOF", io.ErrUnexpectedEOF},
	} {
		tr, err := tsdl.Parse([]byte(c.text))
		if err == nil || err.Error() != c.want || !errors.Is(err, c.is) {
			t.Errorf("%.60q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
		if got := errors.Is(err, trace.ErrNotTrace); got != errors.Is(c.is, trace.ErrNotTrace) {
			t.Errorf("%.60q: trace.ErrNotTrace %t", c.text, got)
		}
		if tr != nil && errors.Is(err, trace.ErrUnsupported) {
			t.Errorf("%.60q is read although it is not supported", c.text)
		}
	}
}

const preamble = "\x1e" + `{"type":"preamble","version":2}` + "\x1e"

// Types that are made of one another would take forever to write out.
func TestAliasesNest(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + "struct s0 { u8 a; };\n")
	for i := 1; i < 100; i++ {
		fmt.Fprintf(&b, "struct s%d { struct s%d a; struct s%d b; };\n", i, i-1, i-1)
	}
	if _, err := tsdl.Parse([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "nested more than 32 deep") {
		t.Error(err)
	}
}

func TestPartsAreBounded(t *testing.T) {
	text := head + "event { fields := struct {" + strings.Repeat("u8 a;", 1<<19) + "}; };"
	if _, err := tsdl.Parse([]byte(text)); !errors.Is(err, trace.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := tsdl.Parse(make([]byte, tsdl.MaxSize+1)); !errors.Is(err, trace.ErrTooLarge) {
		t.Error(err)
	}
}

// TestLongPath: the time for the path to a field follows its length, not the square of that,
// which would take hours.
func TestLongPath(t *testing.T) {
	text := head + "event { fields := struct { u8 a[" + strings.Repeat("x.", 1<<21) + "x]; }; };"
	if _, err := tsdl.Parse([]byte(text)); err != nil {
		t.Error(err)
	}
}

// TestTruncated: every prefix of a metadata gives its complete declarations.
func TestTruncated(t *testing.T) {
	for name, b := range metadata(t) {
		whole, err := tsdl.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		step := max(len(b)/200, 1)
		for n := 0; n < len(b); n += step {
			tr, err := tsdl.Parse(b[:n])
			if tr == nil && err == nil {
				t.Fatalf("%s at %d: neither a trace nor an error", name, n)
			}
			if tr != nil && len(tr.Streams) > len(whole.Streams) {
				t.Errorf("%s at %d: %d streams", name, n, len(tr.Streams))
			}
		}
	}
}

// metadata returns that of real and of assembled traces.
func metadata(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	paths, err := filepath.Glob("../../ctf/testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nmetadata ") {
			continue // it has metadata of one form only
		}
		for _, form := range []string{"ctf=1.8", "ctf=2", "ctf=1.8 packets=300", "ctf=1.8 order=be packets=300"} {
			text, _, _ := strings.Cut(string(text), "-- want --")
			files, err := tracetest.CTF(strings.ReplaceAll(text, "trace", "trace "+form))
			if err != nil {
				continue // a word of the text is not the beginning of a line
			}
			for name, f := range files {
				if strings.HasSuffix(name, "metadata") {
					out[path+" "+name+" "+form] = f.Data
				}
			}
		}
	}
	return out
}

func FuzzTSDL(f *testing.F) {
	for _, b := range metadata(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := tsdl.Parse(b)
		if tr == nil && err == nil {
			t.Fatal("neither a trace nor an error")
		}
		if tr == nil {
			return
		}
		if tr.Major != 1 && tr.Major != 2 {
			t.Errorf("major %d", tr.Major)
		}
		for _, c := range tr.Clocks {
			if c.Frequency < 1 {
				t.Error("clock without a frequency")
			}
		}
		seen := map[*tsdl.Type]bool{}
		check(t, tr.PacketHeader, seen, 0)
		for _, s := range tr.Streams {
			for _, ty := range []*tsdl.Type{s.PacketContext, s.EventHeader, s.EventContext} {
				check(t, ty, seen, 0)
			}
			for _, e := range s.Events {
				check(t, e.Context, seen, 0)
				check(t, e.Payload, seen, 0)
			}
		}
	})
}

// check checks the properties of a type that readers rely on.
func check(t *testing.T, ty *tsdl.Type, seen map[*tsdl.Type]bool, depth int) {
	if ty == nil || seen[ty] {
		return
	}
	seen[ty] = true
	switch {
	case depth > 64:
		t.Fatal("nested too deep")
	case ty.Align < 1 || ty.Align > tsdl.MaxAlign || ty.Align&(ty.Align-1) != 0:
		t.Errorf("alignment %d", ty.Align)
	case ty.Kind == tsdl.Int && (ty.Size < 1 || ty.Size > 64):
		t.Errorf("integer of %d bits", ty.Size)
	case (ty.Kind == tsdl.Array || ty.Kind == tsdl.Dynamic) && ty.Elem == nil:
		t.Error("array of nothing")
	}
	check(t, ty.Elem, seen, depth+1)
	for _, f := range ty.Fields {
		check(t, f.Type, seen, depth+1)
	}
	for _, o := range ty.Options {
		check(t, o.Type, seen, depth+1)
	}
}
