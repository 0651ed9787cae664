//go:build !linux && !darwin && !windows

package diag

// startKey returns the start time in the socket's name on systems that do not
// provide one.
func startKey() string { return "0" }
