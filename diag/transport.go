package diag

import (
	"context"
	"errors"
	"net"
	"os"
)

// An acceptor accepts connections at an address.
type acceptor interface {
	accept() (conn, error)
	close() error
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
