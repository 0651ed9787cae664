package convert

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// hash matches each hash in a text.
var hash = regexp.MustCompile(`x[0-9a-f]{12}`)

// The modules of the test's program, by id.
const (
	core = 1 + iota
	user
	beside
	foreign
	unlisted
)

// learned returns a Redactor that keeps names, and knows modules of a shared framework and
// of a program, and types in them.
func learned(m *tracetest.Maker) *Redactor {
	r := NewRedactor(RedactOptions{KeepSystem: true})
	method := func(module uint64, namespace string) *clr.MethodDCEndVerbose {
		return &clr.MethodDCEndVerbose{ModuleID: module, MethodNamespace: clr.NewUTF16(namespace), MethodName: clr.NewUTF16("F")}
	}
	path := func(module uint64, path string) *clr.ModuleDCEnd {
		return &clr.ModuleDCEnd{ModuleID: module, AssemblyID: 100 + module, ModuleILPath: clr.NewUTF16(path)}
	}
	key := func(module uint64, name string) *clr.AssemblyDCEnd {
		return &clr.AssemblyDCEnd{AssemblyID: 100 + module, FullyQualifiedAssemblyName: clr.NewUTF16(name)}
	}
	for _, e := range []clr.Event{
		method(core, "System.Collections.Generic.Dictionary`2[System.Int32,System.__Canon]"), method(user, "System.Acme"),
		method(user, "Acme.Shop"), method(core, "System.Both"), method(user, "System.Both"), method(unlisted, "System.Unlisted"),
		method(beside, "System.Linq.Enumerable"), method(foreign, "Microsoft.Acme.Thing"), method(core, "Interop"),
		&clr.BulkType{Values: []clr.BulkTypeValue{
			{TypeID: 1, ModuleID: core, Name: clr.NewUTF16("System.Text.Rune[]")}, {TypeID: 2, ModuleID: user, Name: clr.NewUTF16("System.Byte")},
		}},
		path(core, "/srv/acme/System.Private.CoreLib.dll"), path(user, "/srv/acme/System.Shop.dll"), path(beside, "/srv/acme/System.Linq.dll"),
		path(foreign, "/srv/acme/plugins/Microsoft.Acme.dll"),
		key(core, "System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e"),
		key(user, "System.Shop, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null"),
		key(beside, "System.Linq, Version=10.0.0.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a"),
		key(foreign, "Microsoft.Acme, Version=1.0.0.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a"),
	} {
		r.Learn(m.At(0, e))
	}
	return r
}

// TestKeepSystem checks that names are kept which begin as the framework's do and are, as
// the trace shows, from its modules; X stands for a hash.
func TestKeepSystem(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	r := learned(&m)
	hashes := func(s string) string { return hash.ReplaceAllString(s, "X") }
	for name, want := range map[string]string{
		"System.String":      "System.String",
		"System.Char[]":      "System.Char[]",
		"System.Text.Rune":   "System.Text.Rune",
		"Acme.Shop":          "X",
		"System.Acme":        "X",
		"System.Acme[]":      "X[]",
		"System.Both":        "X",
		"System.Byte":        "X", // the trace says that it is the program's
		"System.Unlisted":    "X",
		"System.Unknown":     "X",
		"Interop":            "X",
		"SystemX":            "X",
		"System.String Acme": "X",
		"System.Collections.Generic.Dictionary`2+Entry[System.String,Acme.Shop][]": "System.Collections.Generic.Dictionary`2+Entry[System.String,X][]",
		"System.Linq.Enumerable+<Where>d__1`1[Acme.Shop+<>c]":                      "System.Linq.Enumerable+<Where>d__1`1[X]",
		"Acme.List`1[System.String]":                                               "X[System.String]",
		"Microsoft.Acme.Thing":                                                     "X",
		"NULL":                                                                     "NULL", // the runtime knows no name
		"":                                                                         "",
	} {
		if got := hashes(r.typeName(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for module, want := range map[uint64]string{core: "System.Private.CoreLib", user: "X", beside: "System.Linq", foreign: "X", unlisted: "X"} {
		path := fieldsOf(t, r, m.At(0, &clr.ModuleDCEnd{ModuleID: module, AssemblyID: 100 + module, ModuleILPath: clr.NewUTF16("/srv/acme/" + want + ".dll")}), new(clr.ModuleDCEnd))
		if got := strings.TrimSuffix(hashes(path.ModuleILPath.String()), ".dll"); got != want {
			t.Errorf("module %d: %s, want %s", module, got, want)
		}
		of := fieldsOf(t, r, m.At(0, &clr.AssemblyDCEnd{AssemblyID: 100 + module, FullyQualifiedAssemblyName: clr.NewUTF16(strings.ReplaceAll(want, "X", "System.Acme") + ", Version=1")}), new(clr.AssemblyDCEnd))
		if got := hashes(of.FullyQualifiedAssemblyName.String()); got != want {
			t.Errorf("assembly %d: %s, want %s", module, got, want)
		}
	}
}

// TestKeepMethods checks that the names and signatures of the framework's methods are kept,
// and none of the program's.
func TestKeepMethods(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	r := learned(&m)
	for _, c := range []struct {
		module                  uint64
		namespace, name         string
		signature               string
		wantSpace, wantName, as string
	}{
		{core, "System.Text.Rune", "Parse", "instance bool  (class System.String,value class Acme.Shop,!0&)", "System.Text.Rune", "Parse", "instance bool  (class System.String,value class X,!0&)"},
		{user, "Acme.Shop", "Buy", "void ()", "X", "X", ""},
		{user, "System.Acme", "Buy", "void ()", "X", "X", ""},
		{user, "System.Text.Rune", "Buy", "void ()", "System.Text.Rune", "X", ""},
		{unlisted, "dynamicClass", "IL_STUB_PInvoke", "void ()", "X", "X", ""},
	} {
		got := fieldsOf(t, r, m.At(0, &clr.MethodDCEndVerbose{
			ModuleID: c.module, MethodNamespace: clr.NewUTF16(c.namespace), MethodName: clr.NewUTF16(c.name), MethodSignature: clr.NewUTF16(c.signature),
		}), new(clr.MethodDCEndVerbose))
		for _, f := range [][2]string{{got.MethodNamespace.String(), c.wantSpace}, {got.MethodName.String(), c.wantName}, {got.MethodSignature.String(), c.as}} {
			if s := hash.ReplaceAllString(f[0], "X"); s != f[1] {
				t.Errorf("%s.%s %s: %s, want %s", c.namespace, c.name, c.signature, s, f[1])
			}
		}
	}
	entry := fieldsOf(t, r, m.At(0, &clr.R2RGetEntryPoint{MethodNamespace: clr.NewUTF16("System.Text.Rune"), MethodName: clr.NewUTF16("Parse")}), new(clr.R2RGetEntryPoint))
	if got := entry.MethodName.String(); got != "Parse" {
		t.Errorf("an entry point: %s", got)
	}
}

// TestFramework checks which paths are the framework's.
func TestFramework(t *testing.T) {
	s := newSystem()
	for path, want := range map[string]bool{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/System.Linq.dll":                                true,
		`C:\Program Files\dotnet\shared\Microsoft.AspNetCore.App\8.0.1\Microsoft.AspNetCore.dll`:                true,
		`C:\Windows\Microsoft.Net\assembly\GAC_MSIL\System.Core\v4.0_4.0.0.0__b77a5c561934e089\System.Core.dll`: true,
		`C:\Windows\Microsoft.NET\Framework64\v4.0.30319\mscorlib.dll`:                                          true,
		`C:\Windows\Microsoft.Net\assembly\GAC_MSIL\System.Acme\v4.0_1.0.0.0__0123456789abcdef\System.Acme.dll`: false,
		"/srv/acme/System.Linq.dll":                                            false,
		"/srv/shared/Microsoft.NETCore.App/acme/System.Linq.dll":               false,
		"/srv/shared/Microsoft.NETCore.App/10.0.12/plugins/System.Acme.dll":    false,
		`D:\acme\Windows\Microsoft.NET\Framework64\v4.0.30319\System.Acme.dll`: false,
		"/srv/acme/shared/Acme.NETCore.App/10.0.12/System.Acme.dll":            false,
	} {
		if got := s.isFramework(7, module{path: path}); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
