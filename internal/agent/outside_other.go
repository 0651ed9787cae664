//go:build !linux

package agent

// lookInto knows nothing of processes on this system.
func lookInto(int) outside { return outside{} }
