package tsdl

import "fmt"

// A SyntaxError describes where in the metadata something could not be read.
type SyntaxError struct {
	Line int // of the text without packets, from 1; CTF 2: of the fragment, from 1
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("metadata: %d: %v", e.Line, e.Err) }

func (e *SyntaxError) Unwrap() error { return e.Err }
