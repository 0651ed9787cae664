//go:build !windows

package diag

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A polled stream looks for bytes at certain times. Go's network poller does not know its
// descriptor; otherwise, each piece that a runtime writes would wake this process.
type polled struct {
	interval time.Duration
	hurried  func() bool // reports whether the end is near
	got      int         // bytes since there were none; for Read

	mu       sync.Mutex // of what follows
	fd       int        // negative if closed
	deadline time.Time
}

const (
	// hurriedInterval is the interval of a stream that ends, or is busy.
	hurriedInterval = 5 * time.Millisecond
	// busy is how many bytes at a look make a stream busy: a third of what a Unix socket of
	// Linux takes before it makes the runtime wait.
	busy = 64 << 10
)

// poll returns a polled stream in place of c, or c if that cannot be polled.
func poll(c stream, interval time.Duration, hurried func() bool) stream {
	fd, failed := -1, error(nil)
	if err := onDescriptor(c, func(of uintptr) { fd, failed = duplicate(of) }); err != nil || failed != nil {
		return c
	}
	c.Close()
	return &polled{interval: interval, hurried: hurried, fd: fd}
}

// duplicate returns another descriptor of a file. It does not block either.
func duplicate(fd uintptr) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	other, err := syscall.Dup(int(fd))
	if err == nil {
		syscall.CloseOnExec(other)
	}
	return other, err
}

// Read returns the bytes that are there, or waits for the next time to look.
func (p *polled) Read(b []byte) (int, error) {
	for {
		n, err := p.look(b)
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		interval := p.interval
		if p.got >= busy || p.hurried() {
			interval = hurriedInterval
		}
		p.got = 0
		now := time.Now()
		time.Sleep(now.Truncate(interval).Add(interval).Sub(now)) // all streams look at once
	}
}

func (p *polled) look(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return 0, net.ErrClosed
	}
	n, err := syscall.Read(p.fd, b)
	switch {
	case errors.Is(err, syscall.EAGAIN) && !p.deadline.IsZero() && !time.Now().Before(p.deadline):
		return 0, os.ErrDeadlineExceeded
	case errors.Is(err, syscall.EINTR):
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	p.got += n
	return n, nil
}

// SetReadDeadline makes reading fail from the first look after t on.
func (p *polled) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return nil
}

// Close makes a Read in progress return when it looks next.
func (p *polled) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return net.ErrClosed
	}
	err := syscall.Close(p.fd)
	p.fd = -1
	return err
}
