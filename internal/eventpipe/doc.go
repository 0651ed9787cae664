// Package eventpipe reads and writes the units of .netperf and .nettrace files: blocks,
// the headers of events, and metadata records. It does not relate events to each other:
// nettrace sorts them, and splice takes traces apart.
package eventpipe
