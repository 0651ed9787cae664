package comparison

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
)

// maxWorkText bounds the text of an amount that is shown.
const maxWorkText = 40

// ParseWork reads an amount of work.
func ParseWork(text string) (float64, error) {
	amount, err := strconv.ParseFloat(text, 64)
	if err != nil || !(amount > 0) || math.IsInf(amount, 0) {
		return 0, fmt.Errorf("an amount of work must be a number above 0, not %q", text[:min(len(text), maxWorkText)])
	}
	return amount, nil
}

// A WorkFinder finds the amount of work in what a program writes: the first group of the
// last match, of all its streams. Without a pattern, it finds nothing.
type WorkFinder struct {
	Pattern *regexp.Regexp
	mu      sync.Mutex
	last    string
	found   bool
}

// Stream returns a writer for one stream of the program.
func (f *WorkFinder) Stream() *WorkStream { return &WorkStream{finder: f} }

// Amount returns the amount that the last match has.
func (f *WorkFinder) Amount() (float64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.found {
		return 0, fmt.Errorf("no line of the program's output matches --work %q", f.Pattern)
	}
	return ParseWork(f.last)
}

func (f *WorkFinder) search(line []byte) {
	if f.Pattern == nil {
		return
	}
	matches := f.Pattern.FindAllSubmatch(line, -1)
	if len(matches) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.found = string(matches[len(matches)-1][1]), true
}

// maxWorkLine bounds the part of a line that is searched: its last bytes.
const maxWorkLine = 64 << 10

// A WorkStream searches the lines of one stream.
type WorkStream struct {
	finder *WorkFinder
	line   []byte
}

// Write searches the lines that end in p. It never fails, so that the program's output
// always reaches its reader.
func (s *WorkStream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, line...)
		if excess := len(s.line) - maxWorkLine; excess > 0 {
			s.line = append(s.line[:0], s.line[excess:]...)
		}
		if !ended {
			break
		}
		s.End()
		rest = more
	}
	return len(p), nil
}

// End searches the line that the stream ended with.
func (s *WorkStream) End() {
	s.finder.search(s.line)
	s.line = s.line[:0]
}
