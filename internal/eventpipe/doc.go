// Package eventpipe reads and writes the units of .netperf and .nettrace files: blocks,
// the headers of events, and metadata records. It does not sort events, as nettrace does. An
// ObjectReader takes V4 traces apart, object by object. A Splicer makes other traces of them, an
// Inserter adds events, and a Limiter ends a trace earlier; none decodes events.
package eventpipe
