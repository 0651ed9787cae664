//go:build !linux && !darwin && !windows

package diag

import "time"

// startKey returns the start time in the socket's name on systems that do not
// provide one.
func startKey() string { return "0" }

// startTime returns zero, because these systems do not provide the start time of a process in a
// common way.
func startTime(int) time.Time { return time.Time{} }
