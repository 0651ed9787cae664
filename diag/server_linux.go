package diag

// startKey returns the start time of this process in its socket's name: field
// 22 of /proc/self/stat.
func startKey() string {
	s, ok := readStat("/proc/self")
	if !ok {
		return "0"
	}
	return s.start
}
