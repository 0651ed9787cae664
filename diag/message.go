package diag

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf16"
)

// A message is a header of 20 bytes and a payload: magic, size of the whole
// (uint16), command (set, then id), two zero bytes.
const (
	messageMagic = "DOTNET_IPC_V1\x00"
	headerSize   = 20
	maxMessage   = math.MaxUint16
)

// A command is a command set in the high byte and an id in the low one.
type command uint16

const (
	cmdWriteDump          command = 0x0101
	cmdWriteDump2         command = 0x0102
	cmdWriteDump3         command = 0x0103
	cmdStopTracing        command = 0x0201
	cmdCollectTracing     command = 0x0202
	cmdCollectTracing2    command = 0x0203
	cmdCollectTracing3    command = 0x0204
	cmdCollectTracing4    command = 0x0205
	cmdCollectTracing5    command = 0x0206
	cmdCollectTracing6    command = 0x0207
	cmdAttachProfiler     command = 0x0301
	cmdStartupProfiler    command = 0x0302
	cmdProcessInfo        command = 0x0400
	cmdResumeRuntime      command = 0x0401
	cmdProcessEnvironment command = 0x0402
	cmdSetEnvironment     command = 0x0403
	cmdProcessInfo2       command = 0x0404
	cmdEnablePerfMap      command = 0x0405
	cmdDisablePerfMap     command = 0x0406
	cmdApplyStartupHook   command = 0x0407
	cmdProcessInfo3       command = 0x0408
	answerOK              command = 0xff00
	answerError           command = 0xffff
)

var commandNames = map[command]string{
	cmdWriteDump:          "GenerateCoreDump",
	cmdWriteDump2:         "GenerateCoreDump2",
	cmdWriteDump3:         "GenerateCoreDump3",
	cmdStopTracing:        "StopTracing",
	cmdCollectTracing:     "CollectTracing",
	cmdCollectTracing2:    "CollectTracing2",
	cmdCollectTracing3:    "CollectTracing3",
	cmdCollectTracing4:    "CollectTracing4",
	cmdCollectTracing5:    "CollectTracing5",
	cmdCollectTracing6:    "CollectTracing6",
	cmdAttachProfiler:     "AttachProfiler",
	cmdStartupProfiler:    "StartupProfiler",
	cmdProcessInfo:        "ProcessInfo",
	cmdResumeRuntime:      "ResumeRuntime",
	cmdProcessEnvironment: "ProcessEnvironment",
	cmdSetEnvironment:     "SetEnvironmentVariable",
	cmdProcessInfo2:       "ProcessInfo2",
	cmdEnablePerfMap:      "EnablePerfMap",
	cmdDisablePerfMap:     "DisablePerfMap",
	cmdApplyStartupHook:   "ApplyStartupHook",
	cmdProcessInfo3:       "ProcessInfo3",
}

func (c command) String() string { return commandNames[c] }

// A message is one on its way: a request to a runtime, or a server's answer. Its
// methods append fields; what must not be sent is remembered as an error.
type message struct {
	cmd command
	b   []byte
	err error
}

func newRequest(cmd command) *message {
	return &message{cmd: cmd, b: make([]byte, headerSize, 256)}
}

func (m *message) u16(v uint16) { m.b = binary.LittleEndian.AppendUint16(m.b, v) }

func (m *message) u32(v uint32) { m.b = binary.LittleEndian.AppendUint32(m.b, v) }

func (m *message) u64(v uint64) { m.b = binary.LittleEndian.AppendUint64(m.b, v) }

func (m *message) bool(v bool) {
	if v {
		m.b = append(m.b, 1)
	} else {
		m.b = append(m.b, 0)
	}
}

// str appends a string: the number of UTF-16 units with the terminating zero, then these.
// An empty string is the number 0 alone in requests.
func (m *message) str(what, s string) {
	if strings.ContainsRune(s, 0) {
		m.refuse(what, "it contains a zero character")
	}
	if s == "" && m.cmd != answerOK {
		m.u32(0)
		return
	}
	units := utf16.Encode([]rune(s))
	m.u32(uint32(len(units)) + 1)
	for _, u := range append(units, 0) {
		m.u16(u)
	}
}

// name appends a string that must not be empty.
func (m *message) name(what, s string) { wire{out: m}.name(what, &s) }

// refuse keeps the message from being sent.
func (m *message) refuse(field, why string, args ...any) {
	if m.err == nil {
		m.err = &RequestError{Command: m.cmd.String(), Field: field, Reason: fmt.Sprintf(why, args...)}
	}
}

// bytes returns the whole message, or why it must not be sent.
func (m *message) bytes() ([]byte, error) {
	if len(m.b) > maxMessage {
		m.refuse("size", "it has %d bytes, the protocol allows %d", len(m.b), maxMessage)
	}
	if m.err != nil {
		return nil, m.err
	}
	copy(m.b, messageMagic)
	binary.LittleEndian.PutUint16(m.b[len(messageMagic):], uint16(len(m.b)))
	m.b[16], m.b[17] = byte(m.cmd>>8), byte(m.cmd)
	return m.b, nil
}

// readMessage reads one message. It takes the size from the header, not from the
// documentation of the command. A message of another protocol returns a *headerError.
func readMessage(r io.Reader) (command, *payload, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint16(h[len(messageMagic):]))
	switch {
	case string(h[:len(messageMagic)]) != messageMagic:
		return 0, nil, &headerError{h, UnknownMagic}
	case size < headerSize:
		return 0, nil, &headerError{h, BadEncoding}
	}
	b := make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, err
	}
	return command(h[16])<<8 | command(h[17]), &payload{b: b}, nil
}

// A headerError reports the header of no message.
type headerError struct {
	header [headerSize]byte
	code   HRESULT // with which a runtime refuses it
}

func (e *headerError) Error() string {
	return fmt.Sprintf("%v: it begins with %x", ErrProtocol, e.header)
}

func (e *headerError) Unwrap() error { return ErrProtocol }

// A payload is the content of a received message. After the first field that does not
// fit, every further one is zero, and bad is set, so that callers check once at the end.
type payload struct {
	b   []byte
	bad bool
}

func (p *payload) fail() { p.bad, p.b = true, nil }

func (p *payload) bytes(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.fail()
		return make([]byte, min(max(n, 0), 16))
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *payload) u32() uint32 { return binary.LittleEndian.Uint32(p.bytes(4)) }

func (p *payload) u64() uint64 { return binary.LittleEndian.Uint64(p.bytes(8)) }

// str reads a string up to its first zero. The last of its units must be one.
func (p *payload) str() string {
	n := p.u32()
	if uint64(n)*2 > uint64(len(p.b)) {
		p.fail()
		return ""
	}
	b := p.bytes(int(n) * 2)
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	if n > 0 && units[n-1] != 0 {
		p.fail()
		return ""
	}
	text, _, _ := strings.Cut(string(utf16.Decode(units)), "\x00")
	return text
}
