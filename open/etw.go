package open

import (
	"fmt"

	"github.com/gctrail/gctrail/etl"
)

const packedETW = "an .etl that is packed or comes through a pipe"

// files returns the files of an ETW trace, which are not read from their start
// to their end: what is compressed, or only a stream, is copied to disk.
func (p *peeler) files(f *found) ([]etl.File, error) {
	var files []etl.File
	left := int64(maxSpool)
	for _, part := range append([]found{*f}, f.more...) {
		file := etl.File{ReaderAt: part.at, Size: part.size, Name: part.name}
		if part.at == nil {
			if part.claims > uint64(left) {
				return nil, fmt.Errorf("%s: %w", part.wrapping, errSpool(packedETW, left))
			}
			s, n, err := spool(part.r, left, packedETW)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", part.wrapping, err)
			}
			p.closers = append(p.closers, s.Close)
			file.ReaderAt, file.Size = s, n
			left -= n
		}
		files = append(files, file)
	}
	return files, nil
}
