//go:build !linux

package agent

// lookInto has no source on this system.
func lookInto(int) outside { return outside{} }
