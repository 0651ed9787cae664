package html

import (
	"compress/flate"
	"runtime"
)

// A packer packs chunks, one after the other.
type packer struct {
	*chunk
	z       *flate.Writer
	figures detail
	columns row // of which only guessColumns are set
}

// A packedChunk is a chunk of details of one process.
type packedChunk struct {
	details []pageDetail
	data    []byte // nil until it is packed
}

// maxPackers bounds how many chunks are packed at the same time.
const maxPackers = 4

func newPackers() []*packer {
	all := make([]*packer, min(maxPackers, runtime.GOMAXPROCS(0)))
	for i := range all {
		z, err := flate.NewWriter(nil, compression)
		if err != nil {
			panic(err) // for no valid level
		}
		all[i] = &packer{chunk: newChunk(), z: z, columns: make(row, len(columns))}
	}
	return all
}

// pack packs a chunk of details.
func (k *packer) pack(details []pageDetail) ([]byte, error) {
	k.reset()
	for _, d := range details {
		k.figures = k.figures[:0].readBytes(d.data)
		for i, column := range guessColumns {
			k.columns[column] = k.figures[i]
		}
		k.add(k.figures[len(guessColumns):], k.columns)
	}
	return k.chunk.pack(k.z)
}
