package clr

import "github.com/gctrail/gctrail/internal/binread"

// VersionOf returns the version of an event's payload. If the trace says 0 and the
// payload has exactly the length of a later version, it returns that, because some
// nettrace V6 files of one-collect have no versions.
func VersionOf(k Kind, version uint32, payload []byte, ptrSize int) uint32 {
	if version != 0 || k >= numKinds {
		return version
	}
	return schemas[k].versionOf(payload, ptrSize)
}

// versionOf is VersionOf where the trace says 0.
func (s *schema) versionOf(payload []byte, ptrSize int) uint32 {
	for i := len(s.layouts) - 1; i > 0; i-- {
		if s.layouts[i].fills(payload, ptrSize) {
			return s.layouts[i].version
		}
	}
	return 0
}

// Surplus returns how many bytes a payload has after the fields of its version. It is 0 if
// unknown: for versions newer than the package's, and for events whose layout alone does
// not determine their size.
func Surplus(k Kind, version uint32, payload []byte, ptrSize int) int {
	if k == KindUnknown || k >= numKinds {
		return 0
	}
	layouts := schemas[k].layouts
	if version > layouts[len(layouts)-1].version {
		return 0
	}
	l := schemas[k].layout(version)
	c := binread.At(payload, 0)
	if !passOver(&c, l.fields, ptrSize) || !c.OK() {
		return 0
	}
	return max(0, c.Len()-l.padding)
}

// fills reports whether the fields take exactly the payload.
func (l *layout) fills(payload []byte, ptrSize int) bool {
	c := binread.At(payload, 0)
	return passOver(&c, l.fields, ptrSize) && c.OK() && c.Len() == 0
}

// passOver skips fields. It returns false if one is of a kind that occurs in no
// layout that VersionOf must distinguish.
func passOver(c *binread.Cursor, fields []field, ptrSize int) bool {
	var count uint32
	for i := range fields {
		f := &fields[i]
		switch f.code {
		case codeU8:
			c.Skip(1)
		case codeU16:
			c.Skip(2)
		case codeU32, codeI32, codeF32, codeBool32:
			if v := c.U32(); f.counts {
				count = v
			}
		case codeU64:
			c.Skip(8)
		case codePtr:
			c.Skip(ptrSize)
		case codeUTF16:
			c.UTF16()
		case codeArray:
			if f.elem.code != codeObject {
				return false
			}
			for n := count; n > 0 && c.OK(); n-- {
				if !passOver(c, f.elem.fields, ptrSize) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}
