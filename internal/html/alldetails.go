package html

import "github.com/gctrail/gctrail/gc"

// allDetails packs the details of all collections of a trace while they are added, for a
// page on which all of them fit. A page with more has to choose: see fit.
type allDetails struct {
	idle   packers
	detail detail // of the latest collection
	bytes  int    // of the chunks that are known to be packed
	gaveUp bool   // no page has room for all
}

// processDetails are the details of all collections of a process.
type processDetails struct {
	open   *chunk
	rows   int // in the open chunk
	chunks []*packedChunk
}

// add adds the details of the latest collection of a process, which has these columns.
func (a *allDetails) add(of *processDetails, c *gc.Collection, columns row) {
	if a.gaveUp {
		return
	}
	if of.open == nil {
		of.open = newChunk()
	}
	a.detail = a.detail[:0].appendCollection(c)
	of.open.add(a.detail, columns)
	if of.rows++; of.rows == chunkSize {
		a.pack(of)
	}
}

// pack packs the open chunk of a process.
func (a *allDetails) pack(of *processDetails) {
	if a.gaveUp || of.rows == 0 {
		return
	}
	if a.idle == nil {
		a.idle = newPackers()
	}
	k, into := <-a.idle, new(packedChunk)
	a.bytes += k.packed
	a.gaveUp = a.bytes > maxPage/4*perText
	k.chunk, of.open, of.rows = of.open, k.chunk, 0
	of.chunks = append(of.chunks, into)
	go a.idle.pack(k, into)
}

// allDetails returns the details of all collections of the page, nil if a trace has more
// than any page has room for.
func (p *Page) allDetails() (*packed, error) {
	in := new(packing)
	for _, t := range p.Traces {
		for _, of := range t.processes {
			t.all.pack(&of.all)
			rows := make([]uint32, of.table.rows)
			for i := range rows {
				rows[i] = uint32(i)
			}
			for _, k := range of.all.chunks {
				k.of = len(in.rows)
			}
			in.rows, in.chunks = append(in.rows, rows), append(in.chunks, of.all.chunks...)
		}
		if t.all.gaveUp {
			return nil, nil
		}
		t.all.idle.wait()
	}
	return in.end()
}
