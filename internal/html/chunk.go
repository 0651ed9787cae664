package html

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
)

// chunkSize is how many details a chunk has. A page decodes one chunk to show a
// detail of it.
const chunkSize = 256

// A chunk packs details, each figure in a stream of its own: scalars, then the
// number of items and the fields of each list.
type chunk struct {
	streams [][]byte
	last    detail // the detail before
}

func newChunk() *chunk {
	n := len(scalars)
	for i := range lists {
		n += 1 + len(lists[i].fields)
	}
	return &chunk{streams: make([][]byte, n)}
}

// reset removes all details.
func (k *chunk) reset() {
	for i := range k.streams {
		k.streams[i] = k.streams[i][:0]
	}
	k.last = k.last[:0]
}

// add adds a detail of a collection with some columns.
func (k *chunk) add(d detail, columns row) {
	before, now := k.last, d
	for i := range scalars {
		k.put(i, now[i], at(before, i))
	}
	stream, from, was := len(scalars), len(scalars), len(scalars)
	for i := range lists {
		l := &lists[i]
		count, counted := int(now[from]), int(at(before, was))
		k.put(stream, int64(count), int64(counted))
		from, was = from+1, was+1
		n := len(l.fields)
		for f := range l.fields {
			for item := range count {
				likely := int64(0)
				old := func() int64 {
					if item < counted {
						return at(before, was+item*n+f)
					}
					return 0
				}
				left := func() int64 {
					sum := sumOf(l.fields[f].columns[0], columns)
					for j := range item {
						sum -= at(now, from+j*n+f)
					}
					return sum
				}
				switch l.fields[f].guess {
				case previous:
					likely = old()
				case above:
					if item > 0 {
						likely = at(now, from+(item-1)*n+f-1)
					}
				case rest:
					likely = left()
				case last:
					likely = old()
					if item == count-1 {
						likely = left()
					}
				case exact:
					if of := l.fields[f].columns; item < len(of) {
						likely = sumOf(of[item], columns)
					}
				}
				k.put(stream+1+f, now[from+item*n+f], likely)
			}
		}
		stream += 1 + n
		from, was = from+count*n, was+counted*n
	}
	k.last = append(k.last[:0], d...)
}

// put appends the difference between a figure and its prediction.
func (k *chunk) put(stream int, v, likely int64) {
	if v != unknown {
		v -= likely
	}
	k.streams[stream] = appendFigure(k.streams[stream], v)
}

// at is a figure to predict with; 0 where it is unknown or there is none.
func at(d detail, i int) int64 {
	if i >= len(d) || d[i] == unknown {
		return 0
	}
	return d[i]
}

func sumOf(places []place, columns row) (sum int64) {
	for _, p := range places {
		if v := columns[p.column]; v != unknown {
			sum += p.sign * v
		}
	}
	return sum
}

// pack returns the lengths of the streams and the streams, compressed.
func (k *chunk) pack(z *flate.Writer) ([]byte, error) {
	var out bytes.Buffer
	z.Reset(&out)
	var lengths []byte
	for _, s := range k.streams {
		lengths = binary.AppendUvarint(lengths, uint64(len(s)))
	}
	for _, s := range append([][]byte{lengths}, k.streams...) {
		if _, err := z.Write(s); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}
