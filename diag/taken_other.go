//go:build !linux

package diag

// taken returns true, because only Linux reports whether the other side has read
// everything.
func taken(conn) bool { return true }
