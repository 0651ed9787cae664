//go:build unix

package guard

import "os"

// private reports whether only the owner of a file has access to it.
func private(info os.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
