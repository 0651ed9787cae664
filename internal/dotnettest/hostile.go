package dotnettest

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A Hostile is a runtime that does not behave like one.
type Hostile struct {
	Name string
	// Keeps reports that it writes a valid trace before anything else.
	Keeps bool
	*Runtime
	// Enough is closed when it has written so much, or has been silent for so long, that
	// it is time to ask it to stop.
	Enough chan struct{}
}

// hostileFlood is the least that a hostile runtime writes, if it is read.
const hostileFlood = 512 << 20

// head is the size of the head of a V4 trace: the magic, and the object of the trace.
const head = 102

// Head returns the head of a V4 trace.
func Head(trace []byte) []byte { return trace[:head] }

// HostileRuntimes returns one of each kind. The trace is a whole one, without its
// end mark.
func HostileRuntimes(trace []byte) []*Hostile {
	zeros := make([]byte, 1<<20)
	random := garbage(1 << 20)
	events := trace[head:]
	hold := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	all := []*Hostile{
		{Name: "zeros", Runtime: writing(nil, zeros)},
		{Name: "garbage", Runtime: writing(nil, random)},
		{Name: "a head, and zeros", Runtime: writing(trace[:head], zeros)},
		{Name: "a head, and garbage", Runtime: writing(trace[:head], random)},
		{Name: "a trace, and zeros", Keeps: true, Runtime: writing(trace, zeros)},
		{Name: "a trace, and garbage", Keeps: true, Runtime: writing(trace, random)},
		{Name: "the events again and again", Runtime: writing(trace, events)},
		{Name: "large blocks", Runtime: writing(trace[:head], block("EventBlock", 16<<20, make([]byte, 16<<20)))},
		{Name: "larger blocks", Runtime: writing(trace[:head], block("EventBlock", 16<<20+4, make([]byte, 16<<20+4)))},
		{Name: "large stacks", Runtime: writing(trace[:head], block("StackBlock", 16<<20, random))},
		{Name: "large metadata", Runtime: writing(trace[:head], block("MetadataBlock", 16<<20, random))},
		{Name: "blocks of garbage", Runtime: writing(trace[:head], Nonsense(head, 5, 100<<10))},
		{Name: "large blocks of garbage", Runtime: writing(trace[:head], Nonsense(head, 2, 4<<20))},
		{Name: "a block of 2 GB", Keeps: true, Runtime: writing(append(bytes.Clone(trace), block("EventBlock", 1<<31-1, nil)...), zeros)},
		{Name: "a block of less than nothing", Keeps: true, Runtime: writing(append(bytes.Clone(trace), block("EventBlock", 1<<32-4, nil)...), zeros)},
		{Name: "a long type name", Keeps: true, Runtime: writing(append(bytes.Clone(trace), "\x05\x05\x01\x02\x00\x00\x00\x02\x00\x00\x00\xff\xff\xff\x7f"...), zeros)},
		{Name: "nothing", Runtime: &Runtime{Write: func(c net.Conn, _ <-chan struct{}) { hold(c) }}},
		{Name: "a head only", Runtime: &Runtime{Write: func(c net.Conn, _ <-chan struct{}) { _, _ = c.Write(trace[:head]); hold(c) }}},
		{Name: "a trace, and half a block", Keeps: true, Runtime: &Runtime{Write: func(c net.Conn, _ <-chan struct{}) {
			_, _ = c.Write(append(bytes.Clone(trace), block("EventBlock", 1000, make([]byte, 500))...))
			hold(c)
		}}},
		{Name: "a reset", Keeps: true, Runtime: &Runtime{Write: func(c net.Conn, _ <-chan struct{}) { _, _ = c.Write(trace) }}},
		{Name: "an end, and more", Keeps: true, Runtime: writing(append(bytes.Clone(trace), 1), random)},
		{Name: "a flood once it is stopped", Runtime: &Runtime{Write: func(c net.Conn, stop <-chan struct{}) {
			_, _ = c.Write(trace)
			<-stop
			repeat(c, events)
		}}},
		{Name: "a drip once it has stopped", Keeps: true, Runtime: &Runtime{Hasty: true, Write: func(c net.Conn, _ <-chan struct{}) {
			_, err := c.Write(trace)
			time.Sleep(2 * silence)
			for drip := (SlowWriter{c, 10 * time.Millisecond}); err == nil; {
				_, err = drip.Write([]byte{0})
			}
		}}},
	}
	for _, h := range all {
		h.prepare()
	}
	return all
}

// prepare makes the runtime close Enough when it has written enough.
func (h *Hostile) prepare() {
	h.Enough = make(chan struct{})
	h.Began, h.stop, h.ended = make(chan struct{}), make(chan struct{}), make(chan struct{})
	write, said := h.Write, sync.OnceFunc(func() { close(h.Enough) })
	h.Write = func(c net.Conn, stop <-chan struct{}) {
		defer said()
		write(&counter{Conn: c, silent: time.AfterFunc(silence, said), enough: said}, stop)
	}
}

// silence is how long a runtime writes nothing before it is asked to stop.
const silence = 200 * time.Millisecond

// A counter counts the written bytes.
type counter struct {
	net.Conn
	n      int
	silent *time.Timer
	enough func()
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.silent.Reset(silence)
	if c.n += n; c.n >= hostileFlood {
		c.enough()
	}
	return n, err
}

// writing returns a runtime that writes first, and then repeats then without end.
func writing(first, then []byte) *Runtime {
	return &Runtime{Write: func(c net.Conn, _ <-chan struct{}) {
		if _, err := c.Write(first); err == nil {
			repeat(c, then)
		}
	}}
}

// garbage returns random bytes, always the same ones.
func garbage(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

// Nonsense returns a continuation of a V4 trace at off: blocks of events, correctly
// padded, with random bytes in place of events.
func Nonsense(off, blocks, size int) []byte {
	var all []byte
	for range blocks {
		begin := block("EventBlock", uint32(size), nil)
		begin = begin[:len(begin)-1]
		all = append(all, begin...)
		all = append(all, make([]byte, -(off+len(all))&3)...)
		all = append(append(all, garbage(size)...), 6)
	}
	return all
}

func repeat(w io.Writer, b []byte) {
	for {
		if _, err := w.Write(b); err != nil {
			return
		}
	}
}

// block returns a block of a V4 trace that claims a size. It is not padded, so
// that a reader finds its content some bytes late.
func block(name string, size uint32, content []byte) []byte {
	b := []byte{5, 5, 1, 2, 0, 0, 0, 2, 0, 0, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = append(append(b, name...), 6)
	b = binary.LittleEndian.AppendUint32(b, size)
	return append(append(b, content...), 6)
}
