package clr

import "encoding/hex"

// GUID is a GUID in its layout in memory: its first three groups are little
// endian.
type GUID [16]byte

// String returns g as .NET prints it: lower case, with dashes.
func (g GUID) String() string { return string(g.appendTo(nil)) }

func (g GUID) appendTo(dst []byte) []byte {
	dst = hex.AppendEncode(dst, []byte{g[3], g[2], g[1], g[0]})
	dst = hex.AppendEncode(append(dst, '-'), []byte{g[5], g[4]})
	dst = hex.AppendEncode(append(dst, '-'), []byte{g[7], g[6]})
	dst = hex.AppendEncode(append(dst, '-'), g[8:10])
	return hex.AppendEncode(append(dst, '-'), g[10:])
}
