package ctf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// A metadataWriter writes the text of a trace's metadata in packets, so that it
// can grow while the trace does.
type metadataWriter struct {
	out  io.Writer
	uuid [16]byte
	text bytes.Buffer // not yet written
}

const (
	metadataMagic      = 0x75d11d57
	metadataHeaderSize = 37
)

// flush writes the text in whole packets of a page each, as text and padding.
func (m *metadataWriter) flush() error {
	le := binary.LittleEndian
	for m.text.Len() > 0 {
		text := m.text.Next(pageSize - metadataHeaderSize)
		b := make([]byte, 0, pageSize)
		b = le.AppendUint32(b, metadataMagic)
		b = append(b, m.uuid[:]...)
		b = le.AppendUint32(b, 0) // checksum
		b = le.AppendUint32(b, 8*uint32(metadataHeaderSize+len(text)))
		b = le.AppendUint32(b, 8*pageSize)
		b = append(b, 0, 0, 0, 1, 8) // no compression, encryption, checksum; version 1.8
		b = append(b, text...)
		if _, err := m.out.Write(b[:pageSize]); err != nil {
			return err
		}
	}
	return nil
}

// event adds a class of events.
func (m *metadataWriter) event(c *writerClass, fields string) {
	fmt.Fprintf(&m.text, "event {\n\tname = \"%s\";\n\tid = %d;\n\tstream_id = 0;\n\tloglevel = 13;\n\tfields := struct {\n%s\t};\n};\n\n",
		c.name, c.id, fields)
}

// head adds the declarations before the events. Apart from the name of the tracer, it
// repeats LTTng 2.12's text, because other readers look for its exact words.
func (w *Writer) head() {
	uuid := uuidText(w.uuid)
	host := strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, w.opt.Host)
	fmt.Fprintf(&w.metadata.text, metadataHead,
		uuid, 8*w.opt.PointerSize, w.opt.Start.UTC().Format("20060102T150405-0700"), host, uuid, w.opt.Start.UnixNano()-w.opt.SyncTicks)
}

func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

const metadataHead = `/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;

trace {
	major = 1;
	minor = 8;
	uuid = "%s";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	};
};

env {
	domain = "ust";
	tracer_name = "gctrail";
	tracer_buffering_scheme = "uid";
	tracer_buffering_id = 0;
	architecture_bit_width = %d;
	trace_creation_datetime = "%s";
	hostname = "%s";
};

clock {
	name = "monotonic";
	uuid = "%s";
	description = "Monotonic Clock";
	freq = 1000000000; /* Frequency, in Hz */
	/* clock value offset from Epoch is: offset * (1/freq) */
	offset = %d;
};

typealias integer {
	size = 27; align = 1; signed = false;
	map = clock.monotonic.value;
} := uint27_clock_monotonic_t;

typealias integer {
	size = 32; align = 8; signed = false;
	map = clock.monotonic.value;
} := uint32_clock_monotonic_t;

typealias integer {
	size = 64; align = 8; signed = false;
	map = clock.monotonic.value;
} := uint64_clock_monotonic_t;

struct packet_context {
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
	uint32_t cpu_id;
};

struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct {
			uint27_clock_monotonic_t timestamp;
		} compact;
		struct {
			uint32_t id;
			uint64_clock_monotonic_t timestamp;
		} extended;
	} v;
} align(8);

struct event_header_large {
	enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;
	variant <id> {
		struct {
			uint32_clock_monotonic_t timestamp;
		} compact;
		struct {
			uint32_t id;
			uint64_clock_monotonic_t timestamp;
		} extended;
	} v;
} align(8);

stream {
	id = 0;
	event.header := struct event_header_large;
	packet.context := struct packet_context;
	event.context := struct {
		integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _vpid;
		integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _vtid;
		integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } _procname[17];
	};
};

`
