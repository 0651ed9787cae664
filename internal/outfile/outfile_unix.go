//go:build !windows

package outfile

import (
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

func asRoot() bool { return os.Geteuid() == 0 }

// shared reports whether somebody but root can write to a folder.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Uid != 0 || info.Mode()&0o022 != 0
}
