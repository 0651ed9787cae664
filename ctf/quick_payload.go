package ctf

import "bytes"

// A quickPayload reads a payload that is bytes as the wire has them, followed by bytes and
// strings that nobody wants, as most events of LTTng traces have. It exists because it takes
// three fifths of the time of the plans.
type quickPayload struct {
	copied int   // bytes
	passed []int // bytes up to each string, and after the last
}

// newQuickPayload returns nil if the plan must be used. Its payloads take space.
func newQuickPayload(nodes plan) *quickPayload {
	q := &quickPayload{passed: []int{0}}
	space := false
	for i := range nodes {
		n := &nodes[i]
		last := len(q.passed) - 1
		switch {
		case n.mask > 7:
			return nil
		case n.op == opBytes && n.width > 0 && i == 0:
			q.copied = n.size / 8
		case n.op == opBytes && n.width == 0:
			q.passed[last] += n.size / 8
		case n.op == opString && n.size == 8 && n.width == 0 && n.role == 0:
			q.passed = append(q.passed, 0)
		default:
			return nil
		}
		space = space || n.op == opString || n.size > 0
	}
	if !space {
		return nil
	}
	return q
}

// read reads a payload. It returns false, and has done nothing, if the plan has to do it.
func (q *quickPayload) read(d *decoder) bool {
	from := (d.pos + 7) >> 3
	end := q.end(d.buf[:d.end>>3], from)
	if end < 0 {
		return false
	}
	d.out.data = append(d.out.data, d.buf[from:from+q.copied]...)
	d.pos = end << 3
	return true
}

// end returns where the payload that begins at an offset of b ends, -1 if it is not whole.
func (q *quickPayload) end(b []byte, at int) int {
	at += q.copied + q.passed[0]
	for _, n := range q.passed[1:] {
		if at > len(b) {
			return -1
		}
		i := bytes.IndexByte(b[at:], 0)
		if i < 0 {
			return -1
		}
		at += i + 1 + n
	}
	if at > len(b) {
		return -1
	}
	return at
}
