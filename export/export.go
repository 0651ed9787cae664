// Package export holds what the writers of other tools' formats share. The
// packages below it write one format each, from models only.
package export

import "github.com/gctrail/gctrail/gc"

// A Writer writes collections in the format of another tool.
type Writer interface {
	// Add writes a collection, or takes in what it needs of it. Collections come
	// in order of their start.
	Add(c *gc.Collection) error
	// Close ends the file. It does not close the underlying writer.
	Close() error
}
