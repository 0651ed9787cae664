package diag

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
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

// A message is a request or an answer. Its methods carry one field after the other: out of a
// variable into a message to be sent, or out of a received one into the variable, so that
// clients and servers share one layout. After the first field that must not be sent, or that is
// not there, err is set and all further fields are zero, so that callers check once at the end.
type message struct {
	cmd      command // of an answer that a client has received, that of its request
	b        []byte  // of a received one, the fields that were not read yet
	received bool
	err      error
}

func newRequest(cmd command) *message {
	return &message{cmd: cmd, b: make([]byte, headerSize, 256)}
}

// field returns the next bytes: new ones to be written to, or the received ones.
func (m *message) field(size int) []byte {
	switch {
	case !m.received:
		m.b = append(m.b, make([]byte, size)...)
		return m.b[len(m.b)-size:]
	case size > len(m.b):
		m.fail()
		return make([]byte, size)
	}
	b := m.b[:size]
	m.b = m.b[size:]
	return b
}

func (m *message) u32(v *uint32) {
	if b := m.field(4); m.received {
		*v = binary.LittleEndian.Uint32(b)
	} else {
		binary.LittleEndian.PutUint32(b, *v)
	}
}

func (m *message) u64(v *uint64) {
	if b := m.field(8); m.received {
		*v = binary.LittleEndian.Uint64(b)
	} else {
		binary.LittleEndian.PutUint64(b, *v)
	}
}

func (m *message) bool(v *bool) {
	if b := m.field(1); m.received {
		*v = b[0] != 0
	} else if *v {
		b[0] = 1
	}
}

func (m *message) bytes(v []byte) {
	if b := m.field(len(v)); m.received {
		copy(v, b)
	} else {
		copy(b, v)
	}
}

// str carries a string: the number of UTF-16 units with the terminating zero, then these.
// An empty string is the number 0 alone in requests.
func (m *message) str(what string, v *string) {
	if m.received {
		*v = m.text()
		return
	}
	if strings.ContainsRune(*v, 0) {
		m.refuse(what, "it contains a zero character")
	}
	var text []byte
	if *v != "" || m.cmd == answerOK {
		for _, r := range *v + "\x00" {
			text = binread.AppendUTF16(text, r)
		}
	}
	n := uint32(len(text) / 2)
	m.u32(&n)
	m.b = append(m.b, text...)
}

// text reads a string up to its first zero. The last of its units must be one.
func (m *message) text() string {
	var n uint32
	m.u32(&n)
	if uint64(n)*2 > uint64(len(m.b)) {
		m.fail()
		return ""
	}
	b := m.field(2 * int(n))
	if n > 0 && binary.LittleEndian.Uint16(b[len(b)-2:]) != 0 {
		m.fail()
		return ""
	}
	text, _, _ := strings.Cut(string(binread.AppendUTF8(nil, b)), "\x00")
	return text
}

// name carries a string that must not be empty.
func (m *message) name(what string, v *string) {
	m.str(what, v)
	if *v == "" {
		m.refuse(what, "it is empty")
	}
}

// list carries the number of items, then each. An item takes at least so many bytes, so
// that a received count without room for its items is refused before memory is allocated.
func list[T any](m *message, all *[]T, least int, each func(*T)) {
	n := uint32(len(*all))
	m.u32(&n)
	if m.received {
		if uint64(n)*uint64(least) > uint64(len(m.b)) {
			m.fail()
			n = 0
		}
		*all = make([]T, n)
	}
	for i := range *all {
		each(&(*all)[i])
	}
}

// refuse keeps the message from being sent, or counts the received one as damaged.
func (m *message) refuse(field, why string, args ...any) {
	switch {
	case m.received:
		m.fail()
	case m.err == nil:
		m.err = &RequestError{Command: m.cmd.String(), Field: field, Reason: fmt.Sprintf(why, args...)}
	}
}

// fail ends the reading of a received message.
func (m *message) fail() {
	m.b, m.err = nil, fmt.Errorf("%v: %w: it is too short", m.cmd, ErrProtocol)
}

// encode returns the whole message, or why it must not be sent.
func (m *message) encode() ([]byte, error) {
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
func readMessage(r io.Reader) (*message, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint16(h[len(messageMagic):]))
	switch {
	case string(h[:len(messageMagic)]) != messageMagic:
		return nil, &headerError{h, UnknownMagic}
	case size < headerSize:
		return nil, &headerError{h, BadEncoding}
	}
	b := make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return &message{cmd: command(h[16])<<8 | command(h[17]), b: b, received: true}, nil
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
