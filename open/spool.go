package open

import (
	"errors"
	"fmt"
	"io"
)

// maxSpool is how much of a stream or compressed input is kept in a Scratch if it cannot be
// read sequentially.
const maxSpool = 4 << 30

// A Scratch keeps bytes that are written from start to end, and are then read at any place.
// Close discards it.
type Scratch interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// spool copies r to a scratch, which is a temporary file if scratch is nil; what describes r in
// errors. It takes no more than limit bytes.
func spool(scratch func() (Scratch, error), r io.Reader, limit int64, what string) (Scratch, int64, error) {
	if scratch == nil {
		scratch = func() (Scratch, error) { return createTemp() }
	}
	s, err := scratch()
	if err != nil {
		return nil, 0, err
	}
	n, err := io.Copy(s, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = errSpool(what, limit)
	}
	if err != nil {
		return nil, 0, errors.Join(err, s.Close())
	}
	return s, n, nil
}

func errSpool(what string, limit int64) error {
	return fmt.Errorf("%s takes more than the %d MiB that are set aside for it: unpack it and give the file", what, limit>>20)
}
