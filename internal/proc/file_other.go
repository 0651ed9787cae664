//go:build !linux

package proc

// Read returns ErrUnsupported: the files are those of Linux.
func (*Buffer) Read(string) ([]byte, error) { return nil, ErrUnsupported }
