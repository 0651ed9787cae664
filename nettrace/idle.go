package nettrace

import (
	"errors"
	"io"
	"os"
	"time"
)

// A limitedReader is an input whose reads have a time limit, such as a net.Conn.
type limitedReader interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// An idleInput is an input that makes the reader flush when it is idle while events wait.
type idleInput struct {
	in      limitedReader
	after   time.Duration
	waiting func() bool
	flush   func() bool // reports whether to continue
	rest    func()      // nothing waits, and the next data may be long in coming
}

var errStopped = errors.New("nettrace: no more events are wanted")

// Read waits for bytes without limit.
func (i *idleInput) Read(p []byte) (int, error) {
	for {
		var deadline time.Time
		if i.waiting() {
			deadline = time.Now().Add(i.after)
		} else {
			i.rest()
		}
		if err := i.in.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
		n, err := i.in.Read(p)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if !i.flush() {
			return 0, errStopped
		}
	}
}
