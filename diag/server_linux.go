package diag

// startKey is when this process started, as its socket's name tells it: field 22
// of /proc/self/stat.
func startKey() string {
	s, ok := readStat("/proc/self")
	if !ok {
		return "0"
	}
	return s.start
}
