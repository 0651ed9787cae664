//go:build !linux && !darwin && !windows

package diag

// startKey is what the runtime's socket has for its start where the system does
// not tell it.
func startKey() string { return "0" }
