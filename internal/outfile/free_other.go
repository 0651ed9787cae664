//go:build !linux && !darwin && !windows

package outfile

// FreeSpace reports that the free space is unknown.
func FreeSpace(string) (int64, bool) { return 0, false }
