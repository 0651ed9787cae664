//go:build linux || darwin

package outfile

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail * uint64(st.Bsize)), true
}
