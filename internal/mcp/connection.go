package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds the bytes of a message of the client.
const maxLine = 1 << 20

// endGrace is the time that calls have to end by themselves once the client has closed its
// side. A client that died and one that wants no more than the answers look alike.
const endGrace = 2 * time.Second

// lines is a transport that holds one message per line. It answers lines that hold none,
// and goes on; that of the SDK ends.
type lines struct {
	in  io.ReadCloser
	out io.WriteCloser
}

// Connect implements sdk.Transport.
func (l lines) Connect(context.Context) (sdk.Connection, error) {
	c := &connection{lines: l, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), pending: map[jsonrpc.ID]bool{}, idle: make(chan struct{}, 1)}
	go c.receive()
	return c, nil
}

type connection struct {
	lines
	messages chan jsonrpc.Message // closed at the end of in
	closed   chan struct{}
	closing  sync.Once

	writing sync.Mutex
	pending map[jsonrpc.ID]bool // calls without an answer; guarded by writing
	idle    chan struct{}       // has a value if pending has become empty
}

// SessionID implements sdk.Connection.
func (*connection) SessionID() string { return "" }

// receive decodes the lines of the client until it leaves.
func (c *connection) receive() {
	defer close(c.messages)
	r := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := readLine(r)
		if bytes.TrimSpace(line) != nil {
			if message, id, bad := decode(line); bad != nil {
				err = errors.Join(err, c.refuse(id, bad))
			} else {
				select {
				case c.messages <- message:
				case <-c.closed:
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line, or the first bytes of one that exceeds maxLine.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// decode returns the message of a line, or the error to answer and the id of the request
// that it refers to, nil if unknown.
func decode(line []byte) (message jsonrpc.Message, id any, bad *jsonrpc.Error) {
	if len(line) > maxLine {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message is longer than 1 MB"}
	}
	if !json.Valid(line) {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON"}
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		return message, nil, nil
	}
	var request struct{ ID any }
	_ = json.Unmarshal(line, &request) // leaves the id unknown
	switch request.ID.(type) {
	case string, float64:
		id = request.ID
	}
	return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a request of JSON-RPC 2.0"}
}

// refuse answers a line that holds no message.
func (c *connection) refuse(id any, bad *jsonrpc.Error) error {
	answer, err := encoded(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", id, bad})
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.send(answer)
}

// Read implements sdk.Connection. At the end of the input, it waits for the answers to
// pending calls, no longer than endGrace.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case message, more := <-c.messages:
			if !more {
				c.await(ctx)
				return nil, io.EOF
			}
			request, asks := message.(*jsonrpc.Request)
			if !asks || !request.IsCall() || c.begin(request.ID) {
				return message, nil
			}
			// The SDK would not answer the second one.
			if err := c.refuse(request.ID.Raw(), &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is pending"}); err != nil {
				return nil, err
			}
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin records a call. It reports false if one with the same id is pending.
func (c *connection) begin(id jsonrpc.ID) bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.pending[id] {
		return false
	}
	c.pending[id] = true
	return true
}

// await waits until no call is pending.
func (c *connection) await(ctx context.Context) {
	deadline := time.NewTimer(endGrace)
	defer deadline.Stop()
	for !c.answered() {
		select {
		case <-c.idle:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-deadline.C:
			return
		}
	}
}

func (c *connection) answered() bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	return len(c.pending) == 0
}

// Write implements sdk.Connection.
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	err = c.send(data)
	if response, answers := message.(*jsonrpc.Response); answers {
		if delete(c.pending, response.ID); len(c.pending) == 0 {
			select {
			case c.idle <- struct{}{}:
			default:
			}
		}
	}
	return err
}

// send writes a line. The caller holds writing.
func (c *connection) send(data []byte) error {
	_, err := c.out.Write(append(data, '\n'))
	return err
}

// Close implements sdk.Connection.
func (c *connection) Close() error {
	var err error
	c.closing.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}
