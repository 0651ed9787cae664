package docs

import (
	"regexp"
	"sync"
)

// An output is read while it is written.
type output struct {
	mu    sync.Mutex
	text  []byte
	more  chan struct{} // closed when there is more
	ended bool
}

func newOutput() *output { return &output{more: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	o.changed()
	return len(p), nil
}

// end marks the output as complete.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.changed()
}

func (o *output) changed() {
	close(o.more)
	o.more = make(chan struct{})
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// await returns what a pattern matches, when the output has it; empty if the output ends without it.
func (o *output) await(pattern *regexp.Regexp) string {
	for {
		o.mu.Lock()
		found, ended, more := pattern.Find(o.text), o.ended, o.more
		o.mu.Unlock()
		if found != nil || ended {
			return string(found)
		}
		<-more
	}
}
