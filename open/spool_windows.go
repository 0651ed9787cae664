package open

import (
	"errors"
	"os"
)

// deleteOnClose is FILE_FLAG_DELETE_ON_CLOSE.
const deleteOnClose = 0x04000000

// createTemp creates a file that is gone when it is closed, however the program ends.
func createTemp() (*os.File, error) {
	f, err := os.CreateTemp("", "gctrail-*")
	if err != nil {
		return nil, err
	}
	// The system removes it for who has opened it so.
	name := f.Name()
	if err := f.Close(); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	f, err = os.OpenFile(name, os.O_RDWR|deleteOnClose, 0)
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return f, nil
}
