// Package eventpipe reads and writes the units of .netperf and .nettrace files: blocks,
// the headers of events, and metadata records. It does not sort events, as nettrace does. An
// ObjectReader takes V4 traces apart, object by object, of which a Splicer makes other traces,
// an Inserter ones with more events and a Limiter ones that end earlier, without decoding events.
package eventpipe
