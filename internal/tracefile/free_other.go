//go:build !linux && !darwin && !windows

package tracefile

// freeSpace reports that the free space is unknown.
func freeSpace(string) (int64, bool) { return 0, false }
