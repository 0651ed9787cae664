package clr

import (
	"bytes"
	"encoding/binary"
)

var le = binary.LittleEndian

// zeros is the padding inside raw structures.
var zeros [8]byte

func appendPtr(dst []byte, v uint64, ptrSize int) []byte {
	if ptrSize == 4 {
		return le.AppendUint32(dst, uint32(v))
	}
	return le.AppendUint64(dst, v)
}

func appendBool32(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1, 0, 0, 0)
	}
	return append(dst, 0, 0, 0, 0)
}

// appendUTF16z appends s up to its first zero, and a zero.
func appendUTF16z(dst []byte, s UTF16) []byte {
	n := 0
	for n+1 < len(s) && (s[n] != 0 || s[n+1] != 0) {
		n += 2
	}
	return append(append(dst, s[:n]...), 0, 0)
}

// appendANSIz appends s up to its first zero, and a zero.
func appendANSIz(dst []byte, s ANSI) []byte {
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return append(append(dst, s...), 0)
}

// element returns the ith element of s, or a zero one if s is too short.
func element[T any](s []T, i int) *T {
	if i < len(s) {
		return &s[i]
	}
	return new(T)
}
