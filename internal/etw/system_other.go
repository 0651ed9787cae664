//go:build !windows || !(amd64 || arm64)

package etw

// Native returns nil, because this system has no ETW, or one with other structures.
func Native() System { return nil }
