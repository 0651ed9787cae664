package attack

import (
	"fmt"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// etlHeaderSizes are the sizes of the headers of events, by their type.
var etlHeaderSizes = map[byte]int{
	tracetest.ETLSystem32: 0x20, tracetest.ETLSystem64: 0x20, tracetest.ETLCompact32: 0x18, tracetest.ETLCompact64: 0x18,
	tracetest.ETLPerfInfo32: 0x10, tracetest.ETLPerfInfo64: 0x10, tracetest.ETLFull32: 0x30, tracetest.ETLFull64: 0x30,
	tracetest.ETLInstance32: 0x48, tracetest.ETLInstance64: 0x48, tracetest.ETLEvent32: 0x50, tracetest.ETLEvent64: 0x50, tracetest.ETLTimed: 8,
}

// etlHeaders returns the headers of buffers, of the file, and of events that are not
// packed.
func etlHeaders(tb testing.TB, data []byte) []header {
	const bufferHeader, compressed = 0x48, 0x40
	w := newWalk(tb, data)
	for w.c.OK() && w.c.Len() > 0 {
		at := w.c.Off()
		h := w.header("buffer", bufferHeader)
		end, used := at+int(le.Uint32(h)), at+int(max(le.Uint32(h[4:]), le.Uint32(h[0x30:])))
		if le.Uint16(h[0x34:])&compressed == 0 {
			w.etlEvents(used, at == 0)
		}
		w.c.Skip(end - w.c.Off())
	}
	return w.ended()
}

// etlEvents walks the events up to end. With file, the whole first event counts as a
// header, because it is the header of the file.
func (w *walk) etlEvents(end int, file bool) {
	for ; w.c.OK() && w.c.Off() < end; file = false {
		at := w.c.Off()
		e := w.c.Bytes(8)
		kind := e[2]
		size := int(le.Uint16(e))
		if kind <= tracetest.ETLCompact64 || kind == tracetest.ETLPerfInfo32 || kind == tracetest.ETLPerfInfo64 {
			size = int(le.Uint16(e[4:]))
		}
		header := etlHeaderSizes[kind]
		if header == 0 || size < header {
			w.tb.Fatalf("headers: event of type %#x and %d bytes at %#x", kind, size, at)
		}
		if file {
			header = size
		}
		w.c.Skip(header - len(e))
		w.since(at, fmt.Sprint(kind, header))
		if header == 0x50 && e[4]&1 != 0 { // extended items
			for more := true; more && w.c.OK(); {
				item := w.header("item", 8)
				more = item[4]&1 != 0
				w.c.Skip((int(le.Uint16(item)) - 1) &^ 7)
			}
		}
		w.c.Skip(at + (size+7)&^7 - w.c.Off())
	}
}
