// Package export contains the common parts of the writers of other tools' formats. Each
// package below it writes one format.
package export

import "github.com/gctrail/gctrail/gc"

// A Writer writes collections in the format of another tool.
type Writer interface {
	// Add writes a collection, or adds it to totals. Collections must come in
	// order of their start.
	Add(c *gc.Collection) error
	// Close ends the file. It does not close the underlying writer.
	Close() error
}
