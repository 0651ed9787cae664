package open

import (
	"bytes"
	"encoding/binary"
)

// A kind is a format recognised by the first bytes of an input.
type kind struct {
	class class
	off   int                    // where magic lies
	magic string                 // the bytes that identify the kind; empty if also does
	also  func(head []byte) bool // nil if magic is enough
	looks string                 // a description, for kinds that are refused
	hint  string                 // advice
	vague bool                   // the content may be anything: the name of the file says more
}

// A class is the treatment of a kind.
type class uint8

const (
	notTrace class = iota
	unsupported
	heapDump // of interest to those who ask for it: see Options.HeapDumps
	eventPipe
	etw
	lttng // a folder in a zip or tar
	lttngPart
	inGzip
	inZstd
	inXZ
	inZip
	inTar
)

const (
	hintReads   = "gctrail reads .nettrace, .netperf and .etl files, also compressed with gzip, zstd, xz or zip, and LTTng traces: folders, .trace.zip, .tar.gz, .tar.zst and .tar.xz; " + hintCollect
	hintCollect = "record a trace with: gctrail collect -p PID"
	hintFolder  = "give its folder instead"
	hintObjects = "it has no GC events; list its objects with: gctrail objects FILE"
	hintUnpack  = "unpack it first"
	hintSource  = "give the .nettrace it was made from"
	hintNone    = "it has no GC events: " + hintCollect
	hintDump    = "open it with dotnet-dump analyze, WinDbg or Visual Studio. " + hintEvents
	hintCore    = "open it with dotnet-dump analyze, or lldb with SOS. " + hintEvents
	hintEvents  = "It has no GC events: " + hintCollect

	looksMetadata = "the metadata of an LTTng trace (CTF)"

	fastSerialization = "\x14\x00\x00\x00!FastSerialization.1"
)

// kinds are tried in order.
var kinds = []kind{
	{class: eventPipe, magic: "Nettrace"},
	{
		class: heapDump, magic: fastSerialization, also: serialized("GCHeapDump"),
		looks: "a heap snapshot (.gcdump)", hint: hintObjects,
	},
	{
		class: unsupported, magic: fastSerialization, also: serialized("TraceLog"),
		looks: "PerfView's cache of a trace (.etlx)", hint: "give the .etl or .nettrace it was made from",
	},
	{class: eventPipe, magic: fastSerialization},

	{class: inGzip, magic: "\x1f\x8b\x08"},
	{class: inZstd, magic: "\x28\xb5\x2f\xfd"},
	{class: inZstd, also: zstdSkippable},
	{class: inXZ, magic: xzMagic},
	{class: inZip, magic: "PK\x03\x04"},
	{class: inZip, magic: "PK\x05\x06"}, // one without entries

	{class: etw, also: etlBuffer},
	{class: lttngPart, magic: "\x57\x1d\xd1\x75", looks: looksMetadata, hint: hintFolder},
	{class: lttngPart, magic: "\x75\xd1\x1d\x57", looks: looksMetadata, hint: hintFolder},
	{class: lttngPart, magic: "/* CTF ", looks: looksMetadata, hint: hintFolder},
	{class: lttngPart, magic: "\x1e{", looks: looksMetadata, hint: hintFolder},
	{class: lttngPart, magic: "{", also: contains(`"preamble"`), looks: looksMetadata, hint: hintFolder},
	{class: unsupported, magic: "\xc1\x1f\xfc\xc1", looks: "a part of an LTTng trace (CTF)", hint: hintFolder},
	{class: unsupported, magic: "\xc1\xfc\x1f\xc1", looks: "a part of an LTTng trace (CTF)", hint: hintFolder},
	{class: unsupported, magic: "\xc1\xf1\xdc\xc1", looks: "the index of a part of an LTTng trace (CTF)", hint: hintFolder},
	{class: unsupported, also: contains("speedscope.app/file-format-schema"), looks: "a speedscope profile", hint: "open it on speedscope.app, or " + hintSource},
	{class: unsupported, also: contains(`"traceEvents"`), looks: "a Chromium trace (JSON)", hint: "open it on ui.perfetto.dev, or " + hintSource},
	{class: unsupported, magic: "PERFILE2", looks: "a recording of Linux perf", hint: hintNone},
	{magic: "Timestamp,Provider,Counter Name,", looks: "figures of dotnet-counters (CSV)", hint: "open it with a spreadsheet. " + hintEvents},
	{also: contains(`"TargetProcess"`), looks: "figures of dotnet-counters (JSON)", hint: "open it with any viewer of JSON. " + hintEvents},
	{also: contains(`"node_fields"`), looks: "a heap snapshot for Chrome's DevTools (.heapsnapshot)", hint: "open it with DevTools, or give the .gcdump or .nettrace it was made from"},
	{magic: "JAVA PROFILE 1.0", looks: "a heap dump of Java (.hprof)", hint: "open it with Eclipse MAT or VisualVM"},
	{magic: "FLR\x00", looks: "a recording of Java Flight Recorder (.jfr)", hint: "open it with JDK Mission Control"},
	{class: unsupported, magic: "BZh", looks: "a bzip2 archive", hint: hintUnpack},
	{class: unsupported, magic: "7z\xbc\xaf\x27\x1c", looks: "a 7z archive", hint: hintUnpack},
	{class: unsupported, magic: "Rar!\x1a\x07", looks: "a RAR archive", hint: hintUnpack},
	{class: unsupported, magic: "\x04\x22\x4d\x18", looks: "an lz4 archive", hint: hintUnpack},
	{class: inTar, off: 257, magic: "ustar"},

	{magic: "MDMP", looks: "a memory dump (Windows minidump)", hint: hintDump},
	{magic: "\x7fELF", also: elfCore, looks: "a memory dump (ELF core)", hint: hintCore},
	{magic: "\x7fELF", looks: "a program or library (ELF)", hint: hintCollect},
	{magic: "MZ", also: control, looks: "a program or library (Windows)", hint: hintCollect},
	{magic: "PAGEDU64", looks: "a memory dump of Windows itself", hint: "open it with WinDbg. " + hintEvents},
	{magic: "PAGEDUMP", looks: "a memory dump of Windows itself", hint: "open it with WinDbg. " + hintEvents},
	{magic: "\xcf\xfa\xed\xfe", also: machCore, looks: "a memory dump (macOS core)", hint: hintCore},
	{magic: "\xcf\xfa\xed\xfe", looks: "a program or library (macOS)", hint: hintCollect},
	{magic: "\xca\xfe\xba\xbe", looks: "a program or library (macOS)", hint: hintCollect},
	{magic: "SQLite format 3\x00", looks: "an SQLite database", hint: hintReads},
	{magic: "PAR1", looks: "a Parquet file", hint: hintReads},
	{magic: "\x89PNG\r\n\x1a\n", looks: "a PNG picture", hint: hintReads},
	{magic: "\xff\xd8\xff", looks: "a JPEG picture", hint: hintReads},
	{magic: "%PDF-", looks: "a PDF document", hint: hintReads},
}

// identify returns the kind of an input that begins with head.
func identify(head []byte) kind {
	for _, k := range kinds {
		if k.matches(head) {
			return k
		}
	}
	return describe(head)
}

func (k *kind) matches(head []byte) bool {
	if len(head) < k.off || !bytes.HasPrefix(head[k.off:], []byte(k.magic)) {
		return false
	}
	return k.also == nil || k.also(head)
}

// contains matches text that has s near its start.
func contains(s string) func([]byte) bool {
	return func(head []byte) bool { return isText(head) && bytes.Contains(head, []byte(s)) }
}

// serialized matches a FastSerialization stream whose first object is of the
// type name, with or without its name space. The type's name comes after three
// tags and two versions, as a length and UTF-8 (FastSerialization.cs).
func serialized(name string) func([]byte) bool {
	const at = len(fastSerialization) + 3 + 8
	return func(head []byte) bool {
		if len(head) < at+4 {
			return false
		}
		n := binary.LittleEndian.Uint32(head[at:])
		text := head[at+4:]
		return uint64(n) <= uint64(len(text)) && bytes.HasSuffix(text[:n], []byte(name))
	}
}

// zstdSkippable matches the frame that parallel compressors begin a file with
// (RFC 8878, section 3.1.2).
func zstdSkippable(head []byte) bool {
	return len(head) >= 4 && binary.LittleEndian.Uint32(head)&^0xf == 0x184d2a50
}

// etlBuffer matches the WMI_BUFFER_HEADER that begins an ETW file, which has no magic
// number. It requires a plausible size, the type of a header buffer, and then a system
// event.
func etlBuffer(head []byte) bool {
	const (
		headerSize   = 0x48
		maxSize      = 16 << 20
		bufferType   = 0x36
		headerBuffer = 4
	)
	if len(head) < headerSize+4 {
		return false
	}
	size := binary.LittleEndian.Uint32(head)
	return size >= headerSize && size <= maxSize &&
		binary.LittleEndian.Uint16(head[bufferType:]) == headerBuffer &&
		head[headerSize+3] == 0xc0
}

// elfCore matches an ELF file of the type ET_CORE, in either byte order.
func elfCore(head []byte) bool {
	const order, kind, core = 5, 16, 4
	return len(head) >= kind+2 && (head[order] != 2 && head[kind] == core || head[order] == 2 && head[kind+1] == core)
}

// machCore matches a Mach-O file of the type MH_CORE.
func machCore(head []byte) bool { return len(head) > 12 && head[12] == 4 }

// control matches input that is not text.
func control(head []byte) bool { return !isText(head) }
