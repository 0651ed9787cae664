package html

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"io"
	"slices"

	"github.com/gctrail/gctrail/web"
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
					sum := sumOf(listPlaces[i][f][0], columns)
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
					if of := listPlaces[i][f]; item < len(of) {
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

// put appends how far a figure is from what is likely.
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

// A kept is a detail that a page holds, of one of its processes.
type kept struct {
	*storedDetail
	of int
}

// packed are the details of a page.
type packed struct {
	rows   [][]uint32 // that have details, of each process
	sizes  [][]int    // of the chunks, of each process
	chunks [][]byte
	bytes  int
}

// pack packs the details of some collections, which are in the order of the
// processes and their rows.
func pack(processes []*process, all []kept) (*packed, error) {
	z, err := flate.NewWriter(io.Discard, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	out := &packed{rows: make([][]uint32, len(processes)), sizes: make([][]int, len(processes))}
	var figures detail
	for i, p := range processes {
		begin, _ := slices.BinarySearchFunc(all, i, func(k kept, process int) int { return cmp.Compare(k.of, process) })
		end, _ := slices.BinarySearchFunc(all, i+1, func(k kept, process int) int { return cmp.Compare(k.of, process) })
		of := all[begin:end]
		k, next := newChunk(), 0
		flush := func() error {
			data, err := k.pack(z)
			out.sizes[i] = append(out.sizes[i], len(data))
			out.chunks, out.bytes, k = append(out.chunks, data), out.bytes+len(data), newChunk()
			return err
		}
		for at, columns := range p.table.all() {
			if next == len(of) {
				break
			}
			if of[next].row != at {
				continue
			}
			figures = figures[:0].readBytes(of[next].data)
			k.add(figures, columns)
			out.rows[i] = append(out.rows[i], uint32(at))
			if next++; next%chunkSize == 0 || next == len(of) {
				if err := flush(); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// The sizes that decide how many details a page has.
const (
	maxPage = 6_000_000 // bytes of the file
	// leastDetails are packed where the rest of a page leaves no room.
	leastDetails = 700_000
	// perText is how many bytes 4 characters of a page hold.
	perText = 3
)

// pack packs the details of the page: those of all collections where they fit with
// other data of some bytes, else those of the longest pauses.
func (p *Page) pack(others int) (*packed, error) {
	var processes []*process
	var all []kept
	for _, t := range p.Traces {
		place := make(map[*process]int, len(t.processes))
		for _, of := range t.processes {
			place[of] = len(processes)
			processes = append(processes, of)
		}
		for i := range t.details.details {
			d := &t.details.details[i]
			all = append(all, kept{d, place[d.process]})
		}
	}
	order := func(all []kept) []kept {
		slices.SortFunc(all, func(a, b kept) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.row, b.row)) })
		return all
	}
	out, err := pack(processes, order(all))
	if err != nil || out.bytes <= leastDetails {
		return out, err
	}
	columns, err := p.columns(out)
	if err != nil {
		return nil, err
	}
	room := max(leastDetails, (maxPage-len(web.Script)-len(web.Style))/4*perText-len(columns)-others)
	if out.bytes <= room {
		return out, nil
	}
	slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(b.pause, a.pause) })
	for n := len(all); out.bytes > room; {
		n = int(float64(n) * min(0.97, 0.98*float64(room)/float64(out.bytes)))
		if out, err = pack(processes, order(slices.Clone(all[:n]))); err != nil {
			return nil, err
		}
	}
	return out, nil
}
