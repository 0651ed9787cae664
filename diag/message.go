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
	cmdStopTracing        command = 0x0201
	cmdCollectTracing     command = 0x0202
	cmdCollectTracing2    command = 0x0203
	cmdCollectTracing3    command = 0x0204
	cmdCollectTracing4    command = 0x0205
	cmdCollectTracing5    command = 0x0206
	cmdCollectTracing6    command = 0x0207
	cmdProcessInfo        command = 0x0400
	cmdResumeRuntime      command = 0x0401
	cmdProcessEnvironment command = 0x0402
	cmdSetEnvironment     command = 0x0403
	cmdProcessInfo2       command = 0x0404
	cmdEnablePerfMap      command = 0x0405
	cmdDisablePerfMap     command = 0x0406
	cmdProcessInfo3       command = 0x0408
	answerOK              command = 0xff00
	answerError           command = 0xffff
)

var commandNames = map[command]string{
	cmdStopTracing:        "StopTracing",
	cmdCollectTracing:     "CollectTracing",
	cmdCollectTracing2:    "CollectTracing2",
	cmdCollectTracing3:    "CollectTracing3",
	cmdCollectTracing4:    "CollectTracing4",
	cmdCollectTracing5:    "CollectTracing5",
	cmdCollectTracing6:    "CollectTracing6",
	cmdProcessInfo:        "ProcessInfo",
	cmdResumeRuntime:      "ResumeRuntime",
	cmdProcessEnvironment: "ProcessEnvironment",
	cmdSetEnvironment:     "SetEnvironmentVariable",
	cmdProcessInfo2:       "ProcessInfo2",
	cmdEnablePerfMap:      "EnablePerfMap",
	cmdDisablePerfMap:     "DisablePerfMap",
	cmdProcessInfo3:       "ProcessInfo3",
}

func (c command) String() string { return commandNames[c] }

// A request is a message on its way to a runtime. Its methods append fields;
// what must not be sent is remembered as an error.
type request struct {
	cmd command
	b   []byte
	err error
}

func newRequest(cmd command) *request {
	return &request{cmd: cmd, b: make([]byte, headerSize, 256)}
}

func (r *request) u32(v uint32) { r.b = binary.LittleEndian.AppendUint32(r.b, v) }

func (r *request) u64(v uint64) { r.b = binary.LittleEndian.AppendUint64(r.b, v) }

func (r *request) bool(v bool) {
	if v {
		r.b = append(r.b, 1)
	} else {
		r.b = append(r.b, 0)
	}
}

// str appends a string: the number of UTF-16 units with the terminating zero,
// then these; for an empty string the number 0 alone.
func (r *request) str(what, s string) {
	if strings.ContainsRune(s, 0) {
		r.refuse(what, "it contains a zero character")
	}
	if s == "" {
		r.u32(0)
		return
	}
	units := utf16.Encode([]rune(s))
	r.u32(uint32(len(units)) + 1)
	for _, u := range append(units, 0) {
		r.b = binary.LittleEndian.AppendUint16(r.b, u)
	}
}

// name appends a string that must not be empty.
func (r *request) name(what, s string) {
	if s == "" {
		r.refuse(what, "it is empty")
	}
	r.str(what, s)
}

// refuse keeps the request from being sent.
func (r *request) refuse(field, why string, args ...any) {
	if r.err == nil {
		r.err = &RequestError{Command: r.cmd.String(), Field: field, Reason: fmt.Sprintf(why, args...)}
	}
}

// message returns the whole message, or why it must not be sent.
func (r *request) message() ([]byte, error) {
	if len(r.b) > maxMessage {
		r.refuse("size", "it has %d bytes, the protocol allows %d", len(r.b), maxMessage)
	}
	if r.err != nil {
		return nil, r.err
	}
	copy(r.b, messageMagic)
	binary.LittleEndian.PutUint16(r.b[len(messageMagic):], uint16(len(r.b)))
	r.b[16], r.b[17] = byte(r.cmd>>8), byte(r.cmd)
	return r.b, nil
}

// readMessage reads one message. Its size is what the header says, whatever the
// documents say of a command.
func readMessage(r io.Reader) (command, *answer, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint16(h[len(messageMagic):]))
	if string(h[:len(messageMagic)]) != messageMagic || size < headerSize {
		return 0, nil, fmt.Errorf("%w: it begins with %x", ErrProtocol, h[:])
	}
	b := make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, err
	}
	return command(h[16])<<8 | command(h[17]), &answer{b: b}, nil
}

// An answer is the payload of a message from a runtime. After the first field
// that does not fit, every further one is zero, and short is set.
type answer struct {
	b     []byte
	short bool
}

func (a *answer) bytes(n int) []byte {
	if n < 0 || n > len(a.b) {
		a.short, a.b = true, nil
		return make([]byte, min(max(n, 0), 16))
	}
	b := a.b[:n]
	a.b = a.b[n:]
	return b
}

func (a *answer) u32() uint32 { return binary.LittleEndian.Uint32(a.bytes(4)) }

func (a *answer) u64() uint64 { return binary.LittleEndian.Uint64(a.bytes(8)) }

func (a *answer) str() string {
	n := a.u32()
	if uint64(n)*2 > uint64(len(a.b)) {
		a.short, a.b = true, nil
		return ""
	}
	b := a.bytes(int(n) * 2)
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return strings.TrimSuffix(string(utf16.Decode(units)), "\x00")
}
