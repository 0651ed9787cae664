package units

import "strconv"

// Name returns the name of the value v of a small enumeration, which is of the type typ, or
// typ(v) where v has none.
func Name[T ~uint8](typ string, names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return typ + "(" + strconv.Itoa(int(v)) + ")"
}
