package open

import (
	"fmt"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/trace"
)

const packedETW = "an .etl that is packed or comes through a pipe"

// files returns the files of an ETW trace. Compressed files and streams are copied to
// a scratch, because ETW files are not read from start to end. damage lists faults of the
// packing, by file.
func (p *peeler) files(f *found) (files []etl.File, damage []trace.Damage, err error) {
	left := int64(maxSpool)
	for _, part := range append([]found{*f}, f.more...) {
		file := etl.File{ReaderAt: part.at, Size: part.size, Name: part.name}
		if part.at == nil {
			if part.claims > uint64(left) {
				return nil, nil, fmt.Errorf("%s: %w", part.wrapping, errSpool(packedETW, left))
			}
			r := &salvage{Reader: part.r}
			if file.ReaderAt, file.Size, err = p.salvage(r, left, packedETW); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", part.wrapping, err)
			}
			if r.err != nil {
				damage = append(damage, trace.Damage{File: part.name, Off: file.Size, Err: r.err})
			}
			left -= file.Size
		}
		files = append(files, file)
	}
	return files, damage, nil
}
