package html

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gctrail/gctrail/internal/assets"
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
	packers   []*packer
	all       []pageDetail  // in the order of processes and rows until some are left out, then longest pauses first
	chosen    []pageDetail  // in the order of processes and rows
	chunks    []packedChunk // of the chosen ones
	room      int           // bytes
}

// pack packs the details of the page: of all collections if they fit together with the
// header and others bytes of other data, and otherwise of the ones with the longest
// pauses.
func (p *Page) pack(others int) (*packed, error) {
	header, err := p.deflateHeader(nil)
	if err != nil {
		return nil, err
	}
	f := p.fit(max(leastDetails, (maxPage-len(assets.Script)-len(assets.Style))/4*perText-len(header)-others))
	for {
		bytes, err := f.estimate()
		if err != nil {
			return nil, err
		}
		if !f.shrink(bytes) {
			break
		}
	}
	for {
		out, err := f.pack()
		if err != nil || out.bytes <= leastDetails {
			return out, err
		}
		described, err := p.deflateHeader(out)
		if err != nil || !f.shrink(out.bytes+len(described)-len(header)) {
			return out, err
		}
	}
}

// fit returns all details of the page, which are all chosen.
func (p *Page) fit(room int) *fit {
	f := &fit{packers: newPackers(), room: room}
	for _, t := range p.Traces {
		place := make(map[*process]int, len(t.processes))
		for _, of := range t.processes {
			place[of] = len(f.processes)
			f.processes = append(f.processes, of)
		}
		for i := range t.details.details {
			d := &t.details.details[i].Of
			f.all = append(f.all, pageDetail{d, place[d.process]})
		}
	}
	f.choose(f.all)
	return f
}

// choose chooses details, and divides them into chunks.
func (f *fit) choose(chosen []pageDetail) {
	slices.SortFunc(chosen, func(a, b pageDetail) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.row, b.row)) })
	f.chosen, f.chunks = chosen, nil
	for len(chosen) > 0 {
		of := chosen[0].of
		end, _ := slices.BinarySearchFunc(chosen, of+1, func(d pageDetail, process int) int { return cmp.Compare(d.of, process) })
		for part := range slices.Chunk(chosen[:end], chunkSize) {
			f.chunks = append(f.chunks, packedChunk{details: part})
		}
		chosen = chosen[end:]
	}
}

// closeTo is how far an estimate of all details may exceed the room before some are left
// out without packing all of them: it has been found wrong by less.
const closeTo = 1.1

// estimate packs a sample of the chosen details, if they are many, because packing all of
// them, including the ones without room, would take as long again. It returns the bytes
// that they take, 0 if only packing them all would say whether they fit.
func (f *fit) estimate() (int, error) {
	if len(f.chosen) <= sample*chunkSize {
		return 0, nil
	}
	if err := f.packEach(sample); err != nil {
		return 0, err
	}
	bytes, packed := 0, 0
	for i := range f.chunks {
		if k := &f.chunks[i]; k.data != nil {
			bytes, packed = bytes+len(k.data), packed+len(k.details)
		}
	}
	if all := float64(bytes) * float64(len(f.all)) / float64(packed); len(f.chosen) == len(f.all) && all <= closeTo*float64(f.room) {
		return 0, nil
	}
	return bytes * sample, nil
}

// pack packs the chosen details.
func (f *fit) pack() (*packed, error) {
	if err := f.packEach(1); err != nil {
		return nil, err
	}
	out := &packed{rows: make([][]uint32, len(f.processes)), sizes: make([][]int, len(f.processes))}
	for _, d := range f.chosen {
		out.rows[d.of] = append(out.rows[d.of], uint32(d.row))
	}
	for _, k := range f.chunks {
		of := k.details[0].of
		out.sizes[of] = append(out.sizes[of], len(k.data))
		out.chunks, out.bytes = append(out.chunks, k.data), out.bytes+len(k.data)
	}
	return out, nil
}

// packEach packs every each-th chunk of each process that is not packed yet.
func (f *fit) packEach(each int) error {
	var left []*packedChunk
	of, place := -1, 0
	for i := range f.chunks {
		k := &f.chunks[i]
		if k.details[0].of != of {
			of, place = k.details[0].of, 0
		}
		if place%each == 0 && k.data == nil {
			left = append(left, k)
		}
		place++
	}
	var next atomic.Int64
	errs := make([]error, len(f.packers))
	var packing sync.WaitGroup
	for i, k := range f.packers {
		packing.Go(func() {
			for errs[i] == nil {
				at := int(next.Add(1)) - 1
				if at >= len(left) {
					return
				}
				left[at].data, errs[i] = k.pack(left[at].details)
			}
		})
	}
	packing.Wait()
	return errors.Join(errs...)
}

// shrink chooses fewer details if the chosen ones, of so many bytes, exceed the room. It
// reports whether it did.
func (f *fit) shrink(bytes int) bool {
	if bytes <= f.room {
		return false
	}
	if len(f.chosen) == len(f.all) {
		slices.SortStableFunc(f.all, func(a, b pageDetail) int { return cmp.Compare(b.pause, a.pause) })
	}
	n := int(float64(len(f.chosen)) * min(0.97, 0.98*float64(f.room)/float64(bytes)))
	f.choose(slices.Clone(f.all[:n]))
	return true
}
