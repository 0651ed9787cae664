package lttng

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Commands of the protocol.
const (
	cmdConnect       = 1
	cmdListSessions  = 2
	cmdAttach        = 3
	cmdNextIndex     = 4
	cmdPacket        = 5
	cmdMetadata      = 6
	cmdNewStreams    = 7
	cmdCreateSession = 8
)

// The version of the protocol, and other constants of requests.
const (
	major         = 2
	minor         = 4
	clientCommand = 1
	seekBeginning = 1
)

// Sizes of the daemon's answers, and bounds on them.
const (
	maxPath     = 4096
	maxName     = 255
	maxHost     = 64
	maxSessions = 1 << 16
	maxStreams  = 1 << 16
	maxMetadata = 64 << 20
	maxPacket   = 1 << 30
)

// Answers of the daemon, as most commands number them.
const (
	statusOK = 1
	// of next index
	indexRetry    = 2
	indexHangup   = 3
	indexInactive = 5
	indexEOF      = 6
	// of a packet
	packetRetry = 2
	packetEOF   = 4
	// of metadata
	metadataNone = 2
	metadataGone = 3 // the daemon has no such stream any more
	// of new streams
	streamsNone   = 2
	streamsHangup = 4
)

// Flags of an index and of a packet.
const (
	flagNewMetadata = 1
	flagNewStreams  = 2
)

// answerTime is how long the daemon may take to answer.
const answerTime = 30 * time.Second

// ErrProtocol reports an answer that does not follow the protocol.
var ErrProtocol = errors.New("the answer is not that of a relay daemon of LTTng 2.4 or later")

// A client asks a daemon, one thing after the other.
type client struct {
	conn net.Conn
	err  error // the first; nothing is asked after it
}

// A connection is the request and the answer of the command to connect, which have the same
// layout.
type connection struct {
	ID                 uint64
	Major, Minor, Type uint32
}

// dial connects to a daemon.
func dial(ctx context.Context, address string) (*client, error) {
	d := net.Dialer{Timeout: answerTime}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn}
	var answer connection
	c.ask(cmdConnect, &connection{Major: major, Minor: minor, Type: clientCommand}, &answer)
	if c.err == nil && answer.Major != major {
		c.err = fmt.Errorf("%w: it has version %d.%d", ErrProtocol, answer.Major, answer.Minor)
	}
	var status uint32
	if c.ask(cmdCreateSession, nil, &status); c.err == nil && status != statusOK {
		c.err = ErrProtocol
	}
	if c.err != nil {
		return nil, errors.Join(c.err, conn.Close())
	}
	return c, nil
}

// ask sends a command, and reads the part of the answer that has a fixed size. All
// numbers are big-endian.
func (c *client) ask(command uint32, request, answer any) {
	var payload, b bytes.Buffer
	if request != nil {
		_ = binary.Write(&payload, binary.BigEndian, request) // of fixed size
	}
	_ = binary.Write(&b, binary.BigEndian, struct {
		Size             uint64
		Command, Version uint32
	}{uint64(payload.Len()), command, 0})
	b.Write(payload.Bytes())
	if c.err == nil {
		c.err = c.conn.SetDeadline(time.Now().Add(answerTime))
	}
	if c.err == nil {
		_, c.err = c.conn.Write(b.Bytes())
	}
	c.read(answer)
}

// read reads more of an answer.
func (c *client) read(answer any) {
	if c.err != nil {
		return
	}
	if c.err = binary.Read(c.conn, binary.BigEndian, answer); errors.Is(c.err, io.EOF) {
		c.err = io.ErrUnexpectedEOF
	}
}

// copy copies a number of bytes of an answer.
func (c *client) copy(to io.Writer, n int64) {
	if c.err == nil {
		_, c.err = io.CopyN(to, c.conn, n)
	}
}

// check reports an answer that cannot be.
func (c *client) check(ok bool) {
	if c.err == nil && !ok {
		c.err = ErrProtocol
	}
}

// A session is a recording that a daemon has.
type session struct {
	ID                          uint64
	LiveTimer, Clients, Streams uint32
	Host                        [maxHost]byte
	Name                        [maxName]byte
}

func (c *client) sessions() []session {
	var n uint32
	c.ask(cmdListSessions, nil, &n)
	return readAll[session](c, n, maxSessions)
}

// readAll reads n values of fixed size; more than most are an error.
func readAll[T any](c *client, n, most uint32) (all []T) {
	c.check(n <= most)
	for i := uint32(0); i < n && c.err == nil; i++ {
		var v T
		c.read(&v)
		all = append(all, v)
	}
	return all
}

// A stream is one of the files of a trace.
type stream struct {
	ID, Trace uint64
	Metadata  uint32 // 1 if it is that
	Path      [maxPath]byte
	Channel   [maxName]byte
}

// attach attaches to a session from its beginning, and returns its streams.
func (c *client) attach(id uint64) []stream {
	var answer struct{ Status, Streams uint32 }
	c.ask(cmdAttach, &struct {
		Session, Offset uint64
		Seek            uint32
	}{id, 0, seekBeginning}, &answer)
	if c.err == nil && answer.Status != statusOK {
		c.err = fmt.Errorf("the relay daemon refuses the session (status %d): it must be a live one, made with lttng create --live", answer.Status)
	}
	return readAll[stream](c, answer.Streams, maxStreams)
}

// newStreams returns the streams that were added, and whether there may be more.
func (c *client) newStreams(id uint64) (all []stream, more bool) {
	var answer struct{ Status, Streams uint32 }
	c.ask(cmdNewStreams, &id, &answer)
	switch answer.Status {
	case statusOK:
		return readAll[stream](c, answer.Streams, maxStreams), true
	case streamsNone:
		return nil, true
	case streamsHangup:
		return nil, false
	}
	c.check(false)
	return nil, false
}

// metadata appends new metadata of a stream, and reports whether there was any. A stream that
// the daemon has dropped, as it does when a session ends, has none.
func (c *client) metadata(id uint64, to io.Writer) bool {
	var answer struct {
		Size   uint64
		Status uint32
	}
	c.ask(cmdMetadata, &id, &answer)
	if c.err != nil || answer.Status == metadataNone || answer.Status == metadataGone {
		return false
	}
	c.check(answer.Status == statusOK && answer.Size <= maxMetadata)
	c.copy(to, int64(answer.Size))
	return answer.Size > 0
}

// An index says where the next packet of a stream is.
type index struct {
	Offset, PacketBits, ContentBits, Begin, End, Discarded, Class uint64
	Status, Flags                                                 uint32
}

func (c *client) next(id uint64) (i index) {
	c.ask(cmdNextIndex, &id, &i)
	return i
}

// packet appends a packet. It returns the answer's status and flags.
func (c *client) packet(id uint64, i *index, to io.Writer) (status, flags uint32) {
	size := i.PacketBits / 8
	c.check(size <= maxPacket)
	var answer struct{ Status, Size, Flags uint32 }
	c.ask(cmdPacket, &struct {
		Stream, Offset uint64
		Size           uint32
	}{id, i.Offset, uint32(size)}, &answer)
	if answer.Status == statusOK {
		c.check(uint64(answer.Size) == size)
		c.copy(to, int64(size))
	}
	return answer.Status, answer.Flags
}
