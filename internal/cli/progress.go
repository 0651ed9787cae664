package cli

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
)

// A progress shows the progress of work that takes longer than a delay, in one line of
// the terminal that it rewrites.
type progress struct {
	collections atomic.Int64 // that were read

	line    func(elapsed time.Duration) string
	delay   time.Duration
	started time.Time
	done    chan struct{} // nil if there is nothing to show
	idle    sync.WaitGroup

	mu    sync.Mutex // of the terminal
	w     *text.Printer
	width int
	shown bool
}

const (
	progressDelay    = time.Second
	progressInterval = 200 * time.Millisecond
)

// progress starts to show the progress of reading in.
func (std *stdio) progress(in *open.Input) *progress {
	p := &progress{delay: progressDelay}
	p.line = func(elapsed time.Duration) string {
		return progressLine(in.BytesRead(), in.Size, p.collections.Load(), elapsed)
	}
	return std.start(p)
}

// show starts to show a line of progress.
func (std *stdio) show(line func(elapsed time.Duration) string) *progress {
	return std.start(&progress{line: line})
}

// start shows a progress from now on, if there is a terminal to show it on.
func (std *stdio) start(p *progress) *progress {
	p.started, p.w, p.width = time.Now(), cmp.Or(std.status, std.err), std.errTerm.Width
	if paging := std.pager != nil && std.pager.Paging(); std.errTerm.Is && !paging {
		p.done = make(chan struct{})
		p.idle.Go(p.run)
	}
	return p
}

// stop erases the line for good.
func (p *progress) stop() {
	if p.done == nil {
		return
	}
	close(p.done)
	p.idle.Wait()
	p.erase()
	p.done = nil
}

func (p *progress) run() {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case now := <-tick.C:
			if elapsed := now.Sub(p.started); elapsed >= p.delay {
				p.show(p.line(elapsed))
			}
		}
	}
}

func (p *progress) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.w.Status(line, p.width)
	p.shown = true
}

// erase makes room for other output on the terminal.
func (p *progress) erase() { p.aside(func() {}) }

// aside writes other output in place of the line.
func (p *progress) aside(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.w.EraseStatus()
		p.shown = false
	}
	write()
}

// progressLine describes the progress of reading; size is 0 if unknown.
func progressLine(read, size, collections int64, elapsed time.Duration) string {
	var b strings.Builder
	speed := float64(read) / elapsed.Seconds()
	b.WriteString(units.Bytes(read))
	if size > 0 {
		fmt.Fprintf(&b, " of %s, %d %%", units.Bytes(size), read*100/size)
	}
	fmt.Fprintf(&b, ", %s/s", units.Bytes(int64(speed)))
	if collections > 0 {
		b.WriteString(", " + text.Plural(collections, "collection", "collections"))
	}
	if size > 0 && speed > 0 {
		left := time.Duration(float64(size-read) / speed * float64(time.Second))
		fmt.Fprintf(&b, ", %v left", left.Round(time.Second))
	}
	return b.String()
}
