package etl

// near is how far apart the times of files can be that were recorded together:
// the rundown comes after the rest.
const near = 60 * fileTimeTicks

// Related says whether two files are parts of one recording: of one machine since
// it started, at the same time or one right after the other. A file that was
// merged of several is no part, nor is a file of itself or of its copy.
func Related(a, b File) bool {
	x := &file{r: a.ReaderAt, size: a.Size}
	y := &file{r: b.ReaderAt, size: b.Size}
	if x.open() != nil || y.open() != nil || !x.agrees(y) {
		return false
	}
	p, q := x.header, y.header
	return (p.mode|q.mode)&modeRelog == 0 && p.time != q.time &&
		p.start < q.until()+near && q.start < p.until()+near
}

// until is when the session ended, as far as that is known.
func (h *logfileHeader) until() int64 { return max(h.start, h.end) }
