package clr

import "testing"

func TestUnnamed(t *testing.T) {
	for name, want := range map[string]bool{"": true, "NULL": true, "NUL": false, "NULLS": false, "null": false, "System.String": false} {
		if got := Unnamed(NewUTF16(name)); got != want {
			t.Errorf("%q is unnamed: %v, want %v", name, got, want)
		}
	}
}

// TestNativeName names types as a real NativeAOT program sends them, and no others.
func TestNativeName(t *testing.T) {
	for _, test := range []struct {
		v    BulkTypeValue
		want string
	}{
		{BulkTypeValue{TypeID: 5402289680, ModuleID: 5368709120, TypeNameID: 33580560, Flags: TypeFlagsModuleBaseAddress}, "+0x2006610"},
		{BulkTypeValue{TypeID: 5402289680, ModuleID: 5368709120, TypeNameID: 33580560, Flags: TypeFlagsModuleBaseAddress, Name: NewUTF16("Named")}, ""},
		{BulkTypeValue{TypeID: 5402289680, ModuleID: 5368709120, TypeNameID: 33580560}, ""},
		{BulkTypeValue{TypeID: 5402289680, ModuleID: 5368709120, Flags: TypeFlagsModuleBaseAddress}, ""},
		{BulkTypeValue{TypeID: 1, ModuleID: 2, TypeNameID: 1<<32 - 1, Flags: TypeFlagsModuleBaseAddress}, ""},
	} {
		if got := test.v.NativeName(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.v, got, test.want)
		}
	}
}
