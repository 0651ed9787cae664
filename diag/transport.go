package diag

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// An acceptor accepts connections at an address.
type acceptor interface {
	accept() (conn, error)
	close() error
}

// acceptAll calls each with the connections that come in, until the acceptor is closed, or it
// fails when ctx is done. It returns the reason.
func acceptAll(ctx context.Context, in acceptor, each func(conn)) error {
	const afterError = 50 * time.Millisecond // of the system, such as too many open files
	for {
		c, err := in.accept()
		switch {
		case err == nil:
			each(c)
			continue
		case errors.Is(err, net.ErrClosed), ctx.Err() != nil:
			return err
		}
		select {
		case <-time.After(afterError):
		case <-ctx.Done():
			return err
		}
	}
}

// dial connects to an address: HOST:PORT, the path of a Unix socket, or the name of a pipe.
func dial(ctx context.Context, address string) (conn, error) {
	if a, ok := parseTCP(address); ok {
		return a.dial(ctx)
	}
	return dialLocal(ctx, address)
}

// listen accepts connections at an address: HOST:PORT, the path of a Unix socket, or the
// name of a pipe.
func listen(address string) (acceptor, error) {
	if a, ok := parseTCP(address); ok {
		return a.listen()
	}
	return listenLocal(address)
}

// A netAcceptor accepts connections to a socket.
type netAcceptor struct{ net.Listener }

func (a netAcceptor) accept() (conn, error) { return connOf(a.Accept()) }

func (a netAcceptor) close() error { return a.Close() }

// connOf is c, or the cause of err.
func connOf(c net.Conn, err error) (conn, error) {
	if err != nil {
		return nil, cause(err)
	}
	return c, nil
}

// cause is err, free of the network's words.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && !op.Timeout() {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}
