package etl

// near is how far apart the times of files of one recording can be, because the rundown
// comes after the rest.
const near = 60 * fileTimeTicks

// Recordings finds out which files are parts of one recording. For each file, the result
// has the index of the first file of its recording. A file that cannot be read, or is a
// copy of an earlier one, has its own index.
//
// The files of a recording come from one machine, between two starts of it, and were
// recorded at the same time or in quick succession. A file that a tool rewrote does not
// belong to a recording with files that were not rewritten, because the tool may have
// merged them into it.
func Recordings(files []File) []int {
	opened, first := make([]*file, len(files)), make([]int, len(files))
	for i, f := range files {
		first[i] = i
		x := &file{r: f.ReaderAt, size: f.Size}
		if x.open() != nil || isCopy(x, opened[:i]) {
			continue
		}
		opened[i] = x
		for j, y := range opened[:i] {
			if y != nil && x.related(y) {
				join(first[:i+1], first[i], first[j])
			}
		}
	}
	return first
}

// join makes one group of two.
func join(first []int, a, b int) {
	a, b = min(a, b), max(a, b)
	for i := range first {
		if first[i] == b {
			first[i] = a
		}
	}
}

func isCopy(x *file, others []*file) bool {
	for _, y := range others {
		if y != nil && *x.header == *y.header {
			return true
		}
	}
	return false
}

// related reports whether the headers of two files can belong to one recording.
func (f *file) related(o *file) bool {
	p, q := f.header, o.header
	return f.agrees(o) && (p.mode^q.mode)&modeRelog == 0 &&
		p.start < q.until()+near && q.start < p.until()+near
}

// until returns the time when the session ended, or its start if that is unknown.
func (h *logfileHeader) until() int64 { return max(h.start, h.end) }
