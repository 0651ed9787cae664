package html

import (
	"compress/flate"
	"runtime"
)

// A packer packs chunks, one after the other.
type packer struct {
	*chunk
	z      *flate.Writer
	packed int // bytes of the last chunk
}

// A packedChunk is a chunk of a process, once its packer is idle.
type packedChunk struct {
	of   int
	data []byte
	err  error
}

// packers are the idle packers.
type packers chan *packer

// maxPackers bounds how many chunks are packed at the same time.
const maxPackers = 4

func newPackers() packers {
	idle := make(packers, min(maxPackers, runtime.GOMAXPROCS(0)))
	for range cap(idle) {
		z, err := flate.NewWriter(nil, compression)
		if err != nil {
			panic(err) // for no valid level
		}
		idle <- &packer{chunk: newChunk(), z: z}
	}
	return idle
}

// pack packs the chunk of a packer, and makes the packer idle.
func (idle packers) pack(k *packer, into *packedChunk) {
	into.data, into.err = k.chunk.pack(k.z)
	k.packed = len(into.data)
	k.reset()
	idle <- k
}

// wait waits until all are idle.
func (idle packers) wait() {
	all := make([]*packer, cap(idle))
	for i := range all {
		all[i] = <-idle
	}
	for _, k := range all {
		idle <- k
	}
}
