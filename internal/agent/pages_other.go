//go:build !linux

package agent

// dropStartPages does nothing on this system.
func dropStartPages() {}
