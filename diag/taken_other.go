//go:build !linux

package diag

// taken returns true: only Linux reports whether the other side has read everything
// written to c.
func taken(conn) bool { return true }
