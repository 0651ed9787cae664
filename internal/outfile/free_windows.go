package outfile

import (
	"math"

	"golang.org/x/sys/windows"
)

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (int64, bool) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64)), true
}
