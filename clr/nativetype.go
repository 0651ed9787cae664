package clr

import "strconv"

// Unnamed reports whether a type name says that there is none: the runtime writes NULL for a
// pointer without a text, as NativeAOT does for every type (clretwallmain.cpp).
func Unnamed(name UTF16) bool {
	return len(name) == 0 || len(name) == 8 && string(name) == "N\x00U\x00L\x00L\x00"
}

// NativeName returns a name for a type of a NativeAOT program, which sends no names: the
// type's place in the program's file, such as "+0x2006790", which is the same in every run
// and which the file's symbols name. It is empty for other types, and if TypeNameID is not
// that place too, as in a trace whose addresses were replaced.
func (v *BulkTypeValue) NativeName() string {
	place := v.TypeID - v.ModuleID
	if len(v.Name) > 0 || v.Flags&TypeFlagsModuleBaseAddress == 0 || v.TypeID < v.ModuleID || uint64(v.TypeNameID) != place {
		return ""
	}
	return "+0x" + strconv.FormatUint(place, 16)
}
