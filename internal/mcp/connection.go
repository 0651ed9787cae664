package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds the bytes of a message of the client.
const maxLine = 1 << 20

// endGrace is the time that calls have to end by themselves once the client has closed
// its side. Without it, a client that only closes its side would lose its answers,
// because it looks like a client that died.
const endGrace = 2 * time.Second

// lines is a transport that holds one message per line. It answers invalid lines and
// continues, because the SDK's own transport would end.
type lines struct {
	in   io.ReadCloser
	out  io.WriteCloser
	left chan struct{} // closed once the client has left
}

// Connect implements sdk.Transport.
func (l lines) Connect(context.Context) (sdk.Connection, error) {
	c := &connection{lines: l, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), pending: map[jsonrpc.ID]bool{}, idle: make(chan struct{}, 1)}
	go c.receive()
	return c, nil
}

type connection struct {
	lines
	messages chan jsonrpc.Message // closed at the end of in, or of the connection
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
	defer close(c.left)
	defer close(c.messages)
	r := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 {
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
	id, valid := idOf(line)
	if !valid {
		return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the id is neither text nor a whole number below 2^53"}
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a request of JSON-RPC 2.0"}
	}
	return message, nil, nil
}

// maxID bounds numbers as ids, because the SDK would answer larger numbers and fractions
// under another id.
const maxID = 1 << 53

// idOf returns the id of a message, nil for none, and whether the SDK can answer it.
func idOf(line []byte) (id any, valid bool) {
	var message map[string]json.RawMessage
	_ = json.Unmarshal(line, &message) // a message that is no object has no id
	raw, has := message["id"]
	if !has {
		return nil, true
	}
	var number float64
	var text string
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return text, true
	case string(raw) != "null" && json.Unmarshal(raw, &number) == nil:
		return raw, number == math.Trunc(number) && math.Abs(number) < maxID
	default:
		return nil, false
	}
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
	response, answers := message.(*jsonrpc.Response)
	if answers {
		response.Error = coded(response.Error)
	}
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	err = c.send(data)
	if answers {
		if delete(c.pending, response.ID); len(c.pending) == 0 {
			select {
			case c.idle <- struct{}{}:
			default:
			}
		}
	}
	return err
}

// coded returns an error with a code of JSON-RPC, because the SDK gives none to requests
// that come at the wrong time.
func coded(err error) error {
	if _, has := errors.AsType[*jsonrpc.Error](err); has || err == nil {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
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
