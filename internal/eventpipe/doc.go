// Package eventpipe reads and writes the units of .netperf and .nettrace files:
// blocks, the headers of events, and metadata records. It does not know how events
// relate to each other; nettrace puts them in order, and splice takes traces apart.
package eventpipe
