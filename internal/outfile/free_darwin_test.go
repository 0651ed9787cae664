package outfile

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// struct statfs of bsd/sys/mount.h with 64-bit inodes (xnu-11417.101.15), which is compared
// when this is compiled: another size or place is an index that the array does not have.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Statfs_t{})-2168]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.Statfs_t{}.Bsize)]
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Statfs_t{}.Bsize)-4]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.Statfs_t{}.Bavail)-24]
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Statfs_t{}.Bavail)-8]
)
