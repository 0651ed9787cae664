package diag

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A Session is a trace that a runtime writes: the bytes of a .nettrace file, as they
// arrive. One goroutine reads it; another may call Stop.
//
// If nobody reads the events, the runtime drops them once its buffer is full. A
// process that exits ends its trace; a process that is killed does not. Either
// way, Read returns io.EOF.
type Session struct {
	ID      uint64
	Command string // that the runtime accepted: "CollectTracing4"
	Config  Config // as the runtime granted it

	client *Client
	in     stream
	read   atomic.Int64  // bytes
	over   chan struct{} // closed when nothing more will come
	end    sync.Once     // of over
	asked  atomic.Bool   // the runtime was asked to stop

	bound    sync.Once                  // of the next two
	timer    atomic.Pointer[time.Timer] // ends a trace that continues after that
	most     atomic.Int64               // bytes that may be read until then; 0 before it was asked
	unending atomic.Bool                // one of both was exceeded
}

// A stream has the bytes of a trace.
type stream interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// Poll makes Read look for bytes at intervals only, at the same times in all sessions, because
// each piece that a runtime writes, ten times a second or more, would wake this process
// otherwise. It must be called before the first Read. Polling delays the end of the trace as
// well. On Windows, Poll does nothing.
func (s *Session) Poll(interval time.Duration) {
	s.in = poll(s.in, interval, s.asked.Load)
}

const (
	// stopTime is how long a runtime may take to end a trace after the request, plus
	// stopTimePerMB for each megabyte of its buffer, which may have to be written to a
	// slow disk.
	stopTime      = 30 * time.Second
	stopTimePerMB = 100 * time.Millisecond
	maxBufferTime = 1024 // MB
	// stopBytes limits the trace after a stop, besides the contents of the buffer;
	// stopRundown is added if the trace ends with all methods, because the methods of
	// large programs take some 100 MB.
	stopBytes   = 64 << 20
	stopRundown = 1 << 30
)

// stopAnswerTimeout is how long a runtime may take to confirm the stop after the last
// byte of the trace. It is short, because a runtime that has ended never will.
const stopAnswerTimeout = time.Second

// Read reads the next bytes of the trace, as soon as there are any.
func (s *Session) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	read := s.read.Add(int64(n))
	if most := s.most.Load(); most > 0 && read > most {
		s.abandon()
	}
	switch {
	case s.unending.Load():
		err = ErrUnending
	case reset(err):
		err = io.EOF
	}
	if err != nil && !timedOut(err) {
		s.end.Do(func() { close(s.over) })
	}
	return n, err
}

// StopLimit returns for how long a trace may continue after Stop has asked the runtime
// to end it.
func (s *Session) StopLimit() time.Duration {
	return stopTime + time.Duration(min(int64(s.Config.BufferMB), maxBufferTime))*stopTimePerMB
}

// limit bounds for how long, and by how much, the trace may continue.
func (s *Session) limit() {
	buffer := int64(s.Config.BufferMB)
	most := s.read.Load() + stopBytes + buffer<<20
	if s.Config.Rundown == RundownFull {
		most += stopRundown
	}
	s.most.Store(most)
	s.timer.Store(time.AfterFunc(s.StopLimit(), s.abandon))
}

// abandon drops the rest of the trace.
func (s *Session) abandon() {
	s.unending.Store(true)
	s.in.Close()
}

// ended reports whether the trace was read to its end.
func (s *Session) ended() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// SetReadDeadline makes a Read that receives nothing until t end with
// os.ErrDeadlineExceeded. The zero time means no limit.
func (s *Session) SetReadDeadline(t time.Time) error { return s.in.SetReadDeadline(t) }

// Stop asks the runtime to end the trace. The rest of the trace must be read to
// io.EOF at the same time, because the runtime answers only after its last byte
// has been read. Once it has accepted the request, each byte read restarts the
// time limit for its answer. A trace that continues for too long after that, or
// is longer than the runtime's buffer allows, is abandoned with ErrUnending.
func (s *Session) Stop(ctx context.Context) error {
	if s.ended() {
		return nil
	}
	s.asked.Store(true)
	s.bound.Do(s.limit)
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	line := make(chan conn, 1)
	go s.watch(limited, cancel, line)
	req := newRequest(cmdStopTracing)
	req.u64(&s.ID)
	in, _, err := s.client.exchangeUntil(ctx, limited, req, func(c conn) { line <- c })
	if errors.Is(err, ErrHungUp) { // the process ends, and the end of its trace may be on its way
		select {
		case <-s.over:
		case <-time.After(stopAnswerTimeout):
		}
	}
	switch {
	case err == nil:
		s.timer.Load().Reset(s.client.timeout()) // its last byte has been written
		return in.Close()
	case s.unending.Load():
		return ErrUnending
	case s.ended() && !errors.Is(err, context.Canceled):
		return nil // the process ended meanwhile
	}
	return err
}

// EndWith calls Stop when ctx is done, and closes the session if the runtime does not end the
// trace within patience. The function that it returns waits for that, if it has begun, closes
// the session, and returns the error of Stop; further calls return the same. The trace must be
// read meanwhile, as for Stop.
func (s *Session) EndWith(ctx context.Context, patience time.Duration) (end func() error) {
	var failed error
	stopped := make(chan struct{})
	running := context.AfterFunc(ctx, func() {
		defer close(stopped)
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if failed = s.Stop(limited); failed != nil {
			s.Close()
		}
	})
	return sync.OnceValue(func() error {
		if !running() {
			<-stopped
		}
		s.Close()
		return failed
	})
}

// Stopped reports whether Stop was called, or Close before the trace's end.
func (s *Session) Stopped() bool { return s.asked.Load() }

// watch cancels the request to stop if, within the runtime's time for an answer, nothing
// was read, or the request, sent over line, was not taken. A runtime that another client
// blocks would go on with the trace. It cancels a little after the trace's end too.
func (s *Session) watch(ctx context.Context, cancel func(), line <-chan conn) {
	tick := time.NewTicker(s.client.timeout())
	defer tick.Stop()
	var request conn
	for last := s.read.Load(); ; {
		select {
		case <-ctx.Done():
			return
		case request = <-line:
		case <-s.over:
			time.AfterFunc(stopAnswerTimeout, cancel)
			return
		case <-tick.C:
			n := s.read.Load()
			if n == last || request == nil || !taken(request) {
				cancel()
				return
			}
			last = n
		}
	}
}

// Close ends the session. Unless the trace has ended, or Stop was called, it asks the
// runtime to stop, and discards the rest of the trace. Otherwise the session would
// continue to use one of the runtime's 64 slots.
func (s *Session) Close() error {
	defer func() {
		if timer := s.timer.Load(); timer != nil {
			timer.Stop()
		}
	}()
	if s.ended() || s.asked.Load() {
		return s.in.Close()
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_ = s.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, s)
	}()
	err := errors.Join(s.Stop(context.Background()), s.in.Close())
	<-drained
	return err
}
