package open

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// maxSpool is how much of an input that comes as a stream, or is compressed, is
// kept on disk if it cannot be read as one.
const maxSpool = 4 << 30

// A spooled is a temporary file that is gone when it is closed.
type spooled struct {
	*os.File
	gone bool // its name is, already
}

// spool copies r, which what describes, to a temporary file. It takes no more
// than limit bytes.
func spool(r io.Reader, limit int64, what string) (*spooled, int64, error) {
	f, err := os.CreateTemp("", "gctrail-*")
	if err != nil {
		return nil, 0, err
	}
	// Where the system lets an open file lose its name, nothing stays behind
	// however the program ends.
	s := &spooled{File: f, gone: os.Remove(f.Name()) == nil}
	n, err := io.Copy(f, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = errSpool(what, limit)
	}
	if err != nil {
		s.Close()
		return nil, 0, err
	}
	return s, n, nil
}

func errSpool(what string, limit int64) error {
	return fmt.Errorf("%s takes more than the %d MiB that are set aside for it: unpack it and give the file", what, limit>>20)
}

func (s *spooled) Close() error {
	err := s.File.Close()
	if s.gone {
		return err
	}
	return errors.Join(err, os.Remove(s.Name()))
}
