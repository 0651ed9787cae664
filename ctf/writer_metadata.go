package ctf

import (
	"bytes"
	_ "embed"
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

// metadataHead is the text of the declarations, with a verb for each value.
//
//go:embed writer_metadata.tsdl
var metadataHead string
