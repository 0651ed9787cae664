package binread

import "encoding/hex"

// AppendGUID appends a GUID as .NET prints it: lower case, with dashes. Its first three groups
// are little endian.
func AppendGUID(dst []byte, g [16]byte) []byte {
	dst = hex.AppendEncode(dst, []byte{g[3], g[2], g[1], g[0]})
	dst = hex.AppendEncode(append(dst, '-'), []byte{g[5], g[4]})
	dst = hex.AppendEncode(append(dst, '-'), []byte{g[7], g[6]})
	dst = hex.AppendEncode(append(dst, '-'), g[8:10])
	return hex.AppendEncode(append(dst, '-'), g[10:])
}
