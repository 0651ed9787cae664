package diag

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxArriving is how many starting processes are queried at a time; List finds the
	// others.
	maxArriving = 16
	// A socket appears before its runtime listens on it, and on a busy machine long
	// before. Each try waits twice as long as the one before it, so that a fast start is
	// seen at once.
	arrivalTries    = 7
	arrivalInterval = 10 * time.Millisecond
)

// arrivals is Lister.Arrivals.
func (f *finder) arrivals(ctx context.Context, arrived func(*Process)) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return
	}
	events := os.NewFile(uintptr(fd), "inotify")
	defer events.Close()
	folders := make(map[int32]string)
	for _, folder := range f.folders {
		if watch, err := unix.InotifyAddWatch(fd, folder, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR); err == nil {
			folders[int32(watch)] = folder
		}
	}
	defer context.AfterFunc(ctx, func() { _ = events.SetReadDeadline(time.Unix(1, 0)) })()
	var asking sync.WaitGroup
	defer asking.Wait()
	places := make(chan struct{}, maxArriving)
	b := make([]byte, 16<<10)
	for len(folders) > 0 {
		n, err := events.Read(b)
		if err != nil {
			return
		}
		for watch, name := range inotifyEvents(b[:n]) {
			s, ok := parseSocket(name)
			if !ok || s.router {
				continue
			}
			select {
			case places <- struct{}{}:
			default:
				continue
			}
			asking.Go(func() {
				defer func() { <-places }()
				if p := f.arrival(ctx, folders[watch], s); p != nil {
					arrived(p)
				}
			})
		}
	}
}

// arrival returns the process whose socket has appeared, once it answers; nil
// if there is none.
func (f *finder) arrival(ctx context.Context, folder string, s socket) *Process {
	for try := range arrivalTries {
		l := f.look()
		l.add(&claim{socket: s, folder: folder})
		p := l.process(s.pid)
		if p == nil || p.InnerPID != s.pid {
			return nil
		}
		if p.Err == nil && p.Info == nil {
			p.ask(ctx, listTimeout, make(chan struct{}, maxLarge))
			f.remember([]*Process{p})
		}
		if p.Err == nil {
			return p
		}
		if !refused(p.Err) {
			return nil
		}
		select {
		case <-time.After(arrivalInterval << try):
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// inotifyEvents yields the watches and names of events, as inotify(7) lays them out.
func inotifyEvents(b []byte) func(yield func(int32, string) bool) {
	const header = unix.SizeofInotifyEvent
	return func(yield func(int32, string) bool) {
		for b := b; len(b) >= header; {
			size := header + int(binary.LittleEndian.Uint32(b[header-4:]))
			if size > len(b) {
				return
			}
			name, _, _ := bytes.Cut(b[header:size], []byte{0})
			if !yield(int32(binary.LittleEndian.Uint32(b)), string(name)) {
				return
			}
			b = b[size:]
		}
	}
}
