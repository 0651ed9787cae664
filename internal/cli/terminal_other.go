//go:build !windows

package cli

import "os"

// obeysEscapes reports whether a terminal obeys escape sequences.
func obeysEscapes(*os.File) bool { return true }

// windowSize is nil, because terminals report every change of their size.
var windowSize func() (width, height int)
