package clr

import "github.com/gctrail/gctrail/internal/binread"

// GUID is a GUID in its layout in memory: its first three groups are little
// endian.
type GUID [16]byte

// String returns g as .NET prints it: lower case, with dashes.
func (g GUID) String() string { return string(binread.AppendGUID(nil, g)) }
