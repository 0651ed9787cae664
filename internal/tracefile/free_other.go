//go:build !linux && !darwin && !windows

package tracefile

// freeSpace is not implemented on this system.
func freeSpace(string) (int64, bool) { return 0, false }
