package dotnettest

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"
)

// An Output holds what a program writes, and can be read meanwhile. The zero Output is empty.
type Output struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // closed by the next write; nil if nothing waits for it
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.grown != nil {
		close(o.grown)
		o.grown = nil
	}
	return o.text.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Await waits until the text is as wanted, and reports whether it was before ctx ended.
func (o *Output) Await(ctx context.Context, wanted func(text string) bool) bool {
	for {
		text, grown := o.next()
		if wanted(text) {
			return true
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return false
		}
	}
}

// next returns the text, and a channel that the next write closes.
func (o *Output) next() (text string, grown <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.grown == nil {
		o.grown = make(chan struct{})
	}
	return o.text.String(), o.grown
}

// A SlowWriter is a peer, or a disk, that takes its time: it pauses before each write.
type SlowWriter struct {
	W     io.Writer
	Pause time.Duration
}

func (s SlowWriter) Write(p []byte) (int, error) {
	time.Sleep(s.Pause)
	return s.W.Write(p)
}
