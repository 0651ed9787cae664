package tsdl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

const (
	packetMagic      = 0x75d11d57
	packetHeaderSize = 37
)

// Parse reads the metadata of a trace, plain or in packets. If it is damaged or truncated,
// both results are set, and the trace has the part before the damage.
func Parse(b []byte) (*Trace, error) {
	if len(b) > MaxSize {
		return nil, fmt.Errorf("metadata: %w: more than %d MiB", trace.ErrTooLarge, MaxSize>>20)
	}
	text, err := unpacked(b)
	if err != nil && len(text) == 0 {
		return nil, err
	}
	var t *Trace
	var parseErr error
	switch rest := bytes.TrimLeft(text, "\x1e \t\r\n"); {
	case len(rest) == 0:
		return nil, fmt.Errorf("metadata: %w: empty", trace.ErrNotTrace)
	case rest[0] == '{':
		t, parseErr = parseJSON(text)
	default:
		t, parseErr = parseText(text)
	}
	switch {
	case parseErr == nil:
	case t != nil, recognized(b), errors.Is(parseErr, trace.ErrUnsupported):
		err = parseErr
	default:
		err = fmt.Errorf("%w: %w", trace.ErrNotTrace, parseErr)
	}
	return t, err
}

// beginnings are the first bytes of metadata in text: the signature of CTF 1.8 (1.8.3,
// 7), and the separator of CTF 2.
var beginnings = [...]string{"/* CTF ", "\x1e"}

// recognized reports whether b begins like metadata, whatever follows.
func recognized(b []byte) bool {
	if packetOrder(b) != nil {
		return true
	}
	for _, s := range beginnings {
		if bytes.HasPrefix(b, []byte(s)) {
			return true
		}
	}
	word, _, _ := bytes.Cut(bytes.TrimLeft(b, " \t\r\n"), []byte(" "))
	return blocks[string(word)] != nil
}

// packetOrder returns the byte order of the packet that b begins with, nil if
// it begins with none.
func packetOrder(b []byte) binary.ByteOrder {
	switch {
	case len(b) < 4:
	case binary.LittleEndian.Uint32(b) == packetMagic:
		return binary.LittleEndian
	case binary.BigEndian.Uint32(b) == packetMagic:
		return binary.BigEndian
	}
	return nil
}

// unpacked returns the text in the packets of b, or b itself if it has none.
func unpacked(b []byte) ([]byte, error) {
	order := packetOrder(b)
	if order == nil {
		return b, nil
	}
	var text []byte
	for len(b) > 0 {
		if len(b) < packetHeaderSize {
			return text, fmt.Errorf("metadata packet: %w", io.ErrUnexpectedEOF)
		}
		content, size := uint64(order.Uint32(b[24:]))/8, uint64(order.Uint32(b[28:]))/8
		switch {
		case order.Uint32(b) != packetMagic:
			return text, fmt.Errorf("metadata packet: %w", binread.Malformed("magic number %x", b[:4]))
		case b[32] != 0 || b[33] != 0:
			return text, fmt.Errorf("metadata packet: %w: compressed or encrypted", trace.ErrUnsupportedVersion)
		case content < packetHeaderSize || size < content:
			return text, fmt.Errorf("metadata packet: %w", binread.Malformed("%d of %d bytes in use", content, size))
		case content > uint64(len(b)):
			return append(text, b[packetHeaderSize:]...), fmt.Errorf("metadata packet: %w", io.ErrUnexpectedEOF)
		}
		text = append(text, b[packetHeaderSize:content]...)
		b = b[min(size, uint64(len(b))):]
	}
	return text, nil
}
