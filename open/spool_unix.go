//go:build !windows

package open

import (
	"errors"
	"os"
)

// createTemp creates a file that is gone when it is closed, however the program ends,
// because it has no name.
func createTemp() (*os.File, error) {
	f, err := os.CreateTemp("", "gctrail-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
