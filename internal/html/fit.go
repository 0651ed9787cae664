package html

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/web"
)

// A pageDetail is a detail that a page has, of one of its processes.
type pageDetail struct {
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

// A packing packs details, some chunks at the same time.
type packing struct {
	rows   [][]uint32 // of each process
	each   int        // every each-th chunk is packed
	chunks []*packedChunk
	idle   packers
}

// pack packs every each-th chunk of some details, which are in the order of the processes
// and their rows.
func pack(processes []*process, all []pageDetail, each int) (*packed, error) {
	in := &packing{rows: make([][]uint32, len(processes)), each: each, idle: newPackers()}
	for i, p := range processes {
		begin, _ := slices.BinarySearchFunc(all, i, func(k pageDetail, process int) int { return cmp.Compare(k.of, process) })
		end, _ := slices.BinarySearchFunc(all, i+1, func(k pageDetail, process int) int { return cmp.Compare(k.of, process) })
		in.add(i, p, all[begin:end])
	}
	in.idle.wait()
	return in.end()
}

// add packs the details of a process.
func (in *packing) add(i int, p *process, of []pageDetail) {
	var figures detail
	k, next := <-in.idle, 0
	for at, columns := range p.table.all() {
		if next == len(of) {
			break
		}
		if of[next].row != at {
			continue
		}
		packs := next/chunkSize%in.each == 0
		if packs {
			figures = figures[:0].readBytes(of[next].data)
			k.add(figures, columns)
			in.rows[i] = append(in.rows[i], uint32(at))
		}
		if next++; packs && (next%chunkSize == 0 || next == len(of)) {
			into := &packedChunk{of: i}
			in.chunks = append(in.chunks, into)
			go in.idle.pack(k, into)
			k = <-in.idle
		}
	}
	in.idle <- k
}

// end returns the chunks, which are packed, in order.
func (in *packing) end() (*packed, error) {
	out := &packed{rows: in.rows, sizes: make([][]int, len(in.rows))}
	for _, k := range in.chunks {
		if k.err != nil {
			return nil, k.err
		}
		out.sizes[k.of] = append(out.sizes[k.of], len(k.data))
		out.chunks, out.bytes = append(out.chunks, k.data), out.bytes+len(k.data)
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
	// sample is the interval of the chunks that are packed to estimate the size of all.
	sample = 8
)

// A fit selects the details that a page has room for: of all collections, or of the ones
// with the longest pauses.
type fit struct {
	processes []*process
	all       []pageDetail // in the order of processes and rows until some are left out, then longest pauses first
	chosen    []pageDetail // in the order of processes and rows
	bytes     int          // that the chosen ones take, by estimate; 0 if they are too few for one
	room      int          // bytes
}

// pack packs the details of the page: of all collections if they fit together with the
// header and others bytes of other data, and otherwise of the ones with the longest
// pauses.
func (p *Page) pack(others int) (*packed, error) {
	header, err := p.deflateHeader(nil)
	if err != nil {
		return nil, err
	}
	room := max(leastDetails, (maxPage-len(web.Script)-len(web.Style))/4*perText-len(header)-others)
	size := func(out *packed) (int, error) {
		described, err := p.deflateHeader(out)
		return out.bytes + len(described) - len(header), err
	}
	out, err := p.allDetails()
	if err != nil {
		return nil, err
	}
	if out != nil {
		if bytes, err := size(out); err != nil || bytes <= room {
			return out, err
		}
	}
	f, err := p.fit(room)
	for err == nil && f.shrink(f.bytes) {
		err = f.estimate()
	}
	for err == nil {
		out, err := pack(f.processes, f.chosen, 1)
		if err != nil || out.bytes <= leastDetails {
			return out, err
		}
		bytes, err := size(out)
		if err != nil || !f.shrink(bytes) {
			return out, err
		}
	}
	return nil, err
}

// fit returns all details of the page, which are all chosen.
func (p *Page) fit(room int) (*fit, error) {
	f := &fit{room: room}
	for _, t := range p.Traces {
		place := make(map[*process]int, len(t.processes))
		for _, of := range t.processes {
			place[of] = len(f.processes)
			f.processes = append(f.processes, of)
		}
		for i := range t.details.details {
			d := &t.details.details[i]
			f.all = append(f.all, pageDetail{d, place[d.process]})
		}
	}
	byRow(f.all)
	f.chosen = f.all
	return f, f.estimate()
}

// estimate packs a sample of the chosen details, if they are many, because packing all of
// them, including the ones without room, would take as long again.
func (f *fit) estimate() error {
	f.bytes = 0
	if len(f.chosen) <= sample*chunkSize {
		return nil
	}
	some, err := pack(f.processes, f.chosen, sample)
	if err != nil {
		return err
	}
	f.bytes = some.bytes * sample
	return nil
}

func byRow(all []pageDetail) {
	slices.SortFunc(all, func(a, b pageDetail) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.row, b.row)) })
}

// shrink chooses fewer details if the chosen ones, of so many bytes, exceed the room. It
// reports whether it did.
func (f *fit) shrink(bytes int) bool {
	if bytes <= f.room {
		return false
	}
	if len(f.chosen) == len(f.all) {
		f.all = slices.Clone(f.all)
		slices.SortStableFunc(f.all, func(a, b pageDetail) int { return cmp.Compare(b.pause, a.pause) })
	}
	n := int(float64(len(f.chosen)) * min(0.97, 0.98*float64(f.room)/float64(bytes)))
	f.chosen = append(f.chosen[:0], f.all[:n]...)
	byRow(f.chosen)
	return true
}
