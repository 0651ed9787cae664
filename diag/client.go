package diag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A Client talks to one runtime. Each command uses a separate connection. A
// Client may be used by several goroutines.
type Client struct {
	// Timeout limits how long a runtime may take to answer a command; 0 means
	// 10 s. Busy processes have taken 1.5 s.
	Timeout time.Duration

	connect func(context.Context) (conn, error)
}

const defaultTimeout = 10 * time.Second

// A conn is a connection to a runtime: a socket, or a pipe.
type conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
}

// NewClient returns a client of the runtime, or the router, that listens at an
// address: the path of a Unix socket, on Windows the name of a pipe, or HOST:PORT, which
// is reached over TCP, without any authentication.
func NewClient(address string) *Client {
	return &Client{connect: func(ctx context.Context) (conn, error) {
		c, err := dial(ctx, address)
		if err != nil {
			return nil, &ConnectError{address, err}
		}
		return c, nil
	}}
}

// NewClientOver returns a client of the runtime to which connect connects, once for each
// command: through a tunnel, for instance.
func NewClientOver(connect func(context.Context) (net.Conn, error)) *Client {
	return &Client{connect: func(ctx context.Context) (conn, error) { return connOf(connect(ctx)) }}
}

// ask sends a request and returns the answer.
func (c *Client) ask(ctx context.Context, req *message) (*message, error) {
	in, a, err := c.exchange(ctx, req)
	if err != nil {
		return nil, err
	}
	return a, in.Close()
}

// timeout returns how long a runtime may take to answer.
func (c *Client) timeout() time.Duration {
	if c.Timeout == 0 {
		return defaultTimeout
	}
	return c.Timeout
}

// exchange sends a request and reads the answer within the client's time.
func (c *Client) exchange(ctx context.Context, req *message) (conn, *message, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	return c.exchangeUntil(ctx, limited, req, func(conn) {})
}

// exchangeUntil sends a request in one piece and reads the answer until limited, which is
// derived from ctx, ends. It passes the connection to connected first. The caller owns the
// connection, which has no time limit any more because a trace may follow.
func (c *Client) exchangeUntil(ctx, limited context.Context, req *message, connected func(conn)) (conn, *message, error) {
	request, err := req.encode()
	if err != nil {
		return nil, nil, err
	}
	in, err := c.connect(limited)
	if err != nil {
		return nil, nil, explain(ctx, limited, req, err)
	}
	connected(in)
	hurry := context.AfterFunc(limited, func() { interrupt(in) })
	a, err := converse(in, req.cmd, request)
	if !hurry() && err == nil {
		err = ErrNoAnswer // its connection can serve no longer
	}
	if err != nil {
		in.Close()
		return nil, nil, explain(ctx, limited, req, err)
	}
	return in, a, nil
}

// interrupt ends pending reads and writes of c.
func interrupt(c conn) { _ = c.SetDeadline(time.Unix(1, 0)) }

// converse sends a request over in and reads the answer.
func converse(in conn, cmd command, request []byte) (*message, error) {
	if _, err := in.Write(request); err != nil {
		return nil, err
	}
	a, err := readMessage(in)
	if err != nil {
		return nil, err
	}
	kind := a.cmd
	a.cmd = cmd // that it answers
	switch {
	case kind == answerOK && cmd == cmdProcessEnvironment:
		return a, a.environmentBehind(in)
	case kind == answerOK:
		return a, nil
	case kind == answerError:
		var code HRESULT
		if a.u32((*uint32)(&code)); a.err != nil {
			return nil, fmt.Errorf("%w: an error without its number", ErrProtocol)
		}
		return nil, &RuntimeError{cmd.String(), code}
	default:
		return nil, fmt.Errorf("%w: command %#04x", ErrProtocol, uint16(kind))
	}
}

// explain adds the command to an error, and replaces time-outs and closed connections by
// ErrNoAnswer and ErrHungUp.
func explain(ctx, limited context.Context, req *message, err error) error {
	var connecting *ConnectError
	var refusal *RuntimeError
	switch {
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ctx.Err()
	case errors.As(err, &refusal):
		return err
	case limited.Err() != nil, timedOut(err):
		return fmt.Errorf("%v: %w", req.cmd, ErrNoAnswer)
	case errors.As(err, &connecting), untrusted(err):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), reset(err):
		return fmt.Errorf("%v: %w", req.cmd, ErrHungUp)
	default:
		return fmt.Errorf("%v: %w", req.cmd, err)
	}
}

// tooOld reports whether the runtime does not know the command.
func tooOld(err error) bool { return errors.Is(err, UnknownCommand) }
