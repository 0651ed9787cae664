package outfile

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The structure statfs of bsd/sys/mount.h with 64-bit inodes (xnu-11417.101.15) is
// compared at compile time: another size or offset would index an array out of its
// bounds.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Statfs_t{})-2168]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.Statfs_t{}.Bsize)]
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Statfs_t{}.Bsize)-4]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.Statfs_t{}.Bavail)-24]
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Statfs_t{}.Bavail)-8]
)
