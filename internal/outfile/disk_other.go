//go:build !linux && !darwin && !windows

package outfile

import "os"

// lock reports that nothing is known about the writer of a file.
func lock(*os.File) (held, known bool) { return false, false }

// FreeSpace reports that the free space is unknown.
func FreeSpace(string) (int64, bool) { return 0, false }
