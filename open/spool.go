package open

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// maxSpool is how much of a stream or compressed input is kept on disk if it cannot be
// read sequentially.
const maxSpool = 4 << 30

// spool copies r to a temporary file that is gone when it is closed; what describes r in
// errors. It takes no more than limit bytes.
func spool(r io.Reader, limit int64, what string) (*os.File, int64, error) {
	f, err := createTemp()
	if err != nil {
		return nil, 0, err
	}
	n, err := io.Copy(f, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = errSpool(what, limit)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, n, nil
}

func errSpool(what string, limit int64) error {
	return fmt.Errorf("%s takes more than the %d MiB that are set aside for it: unpack it and give the file", what, limit>>20)
}
