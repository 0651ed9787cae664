package clr

import "github.com/gctrail/gctrail/internal/binread"

// VersionOf is the version that a payload of an event has. That is what the
// trace says, unless it says 0 and the payload has just the length of a later
// one: nettrace V6 files of dotnet-trace collect-linux do not tell versions.
func VersionOf(k Kind, version uint32, payload []byte, ptrSize int) uint32 {
	if version != 0 || k == KindUnknown || k >= numKinds {
		return version
	}
	layouts := schemas[k].layouts
	for i := len(layouts) - 1; i > 0; i-- {
		if layouts[i].fills(payload, ptrSize) {
			return layouts[i].version
		}
	}
	return version
}

// fills says whether the fields take exactly the payload. Layouts with repeated
// parts are not tried.
func (l *layout) fills(payload []byte, ptrSize int) bool {
	c := binread.At(payload, 0)
	for i := range l.fields {
		switch l.fields[i].code {
		case codeU8:
			c.Skip(1)
		case codeU16:
			c.Skip(2)
		case codeU32, codeI32, codeF32, codeBool32:
			c.Skip(4)
		case codeU64:
			c.Skip(8)
		case codePtr:
			c.Skip(ptrSize)
		case codeUTF16:
			c.UTF16()
		default:
			return false
		}
	}
	return c.OK() && c.Len() == 0
}
