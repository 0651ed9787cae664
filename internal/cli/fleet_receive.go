package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/guard"
	"github.com/gctrail/gctrail/internal/text"
)

type fleetReceiveOptions struct {
	storeFlag
	listen        string
	tokenFile     string
	certificate   string
	key           string
	insecure      bool
	create        bool
	delay         time.Duration
	shutdownGrace time.Duration
}

func newFleetReceiveCmd(std *stdio) *cobra.Command {
	opts := &fleetReceiveOptions{listen: "127.0.0.1:4318", delay: 500 * time.Millisecond, shutdownGrace: 25 * time.Second}
	cmd := newCmd(std, opts, "receive", "Receive records over OTLP/HTTP, and store them", noArgs)
	flags := cmd.Flags()
	opts.addFlags(flags)
	flags.StringVar(&opts.listen, "listen", opts.listen, "listen at this `address`")
	flags.StringVar(&opts.tokenFile, "token-file", "", "requests need the token in this `file` (Authorization: Bearer)")
	flags.StringVar(&opts.certificate, "tls-cert", "", "the certificate, a PEM `file`")
	flags.StringVar(&opts.key, "tls-key", "", "its key, a PEM `file`")
	flags.BoolVar(&opts.insecure, "insecure", false, "listen beyond this machine without TLS")
	flags.BoolVar(&opts.create, "create", false, "create ClickHouse's tables where they are missing")
	flags.DurationVar(&opts.delay, "delay", opts.delay, "store what arrives within this time together")
	return cmd
}

// secret returns the token, and refuses to expose a store to others by accident.
func (o *fleetReceiveOptions) secret() (string, error) {
	_, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return "", misusef("--listen: %q is not HOST:PORT", o.listen)
	}
	if (o.certificate == "") != (o.key == "") {
		return "", misusef("--tls-cert and --tls-key belong together")
	}
	token := ""
	if o.tokenFile != "" {
		if token, err = guard.ReadSecret(o.tokenFile); err != nil {
			return "", misusef("--token-file: %v", err)
		}
		if token == "" {
			return "", misusef("--token-file: %s is empty", o.tokenFile)
		}
	}
	if guard.IsLoopback(o.listen) {
		return token, nil
	}
	switch {
	case token == "":
		return "", misusef("--listen %s lets others write to the store: give --token-file", o.listen)
	case o.certificate == "" && !o.insecure:
		return "", misusef("--listen %s sends the token in plain text: give --tls-cert and --tls-key, or --insecure", o.listen)
	}
	return token, nil
}

func (o *fleetReceiveOptions) conflict() error { return nil }

func (o *fleetReceiveOptions) run(ctx context.Context, std *stdio) error {
	store, err := o.open()
	if err != nil {
		return err
	}
	token, err := o.secret()
	if err != nil {
		return err
	}
	if err := o.prepare(ctx, store); err != nil {
		return storeError(err)
	}
	receiver := fleet.NewReceiver(store, token, o.delay)
	receiver.OnRefusal(func(why string) { _ = std.err.Line("%s", why) })
	server := receiver.Server()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return err
	}
	server.Handler = guard.For(listener.Addr()).Wrap(server.Handler)
	scheme := "http"
	if o.certificate != "" {
		pair, err := tls.LoadX509KeyPair(o.certificate, o.key)
		if err != nil {
			return errors.Join(fmt.Errorf("--tls-cert: %w", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
		scheme = "https"
	}
	_ = std.err.Line("Receiving at %s://%s/v1/logs. Ctrl-C ends.", scheme, listener.Addr())

	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.shutdownGrace)
	defer cancel()
	err = server.Shutdown(grace)
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	o.warnDamaged(std)
	_ = std.err.Line("Stored %s.", text.Plural(receiver.Stored(), "record", "records"))
	return err
}

// prepare checks that the store can be written to, before a sender tries.
func (o *fleetReceiveOptions) prepare(ctx context.Context, store fleet.Store) error {
	switch s := store.(type) {
	case *fleet.Folder:
		return s.Check()
	case *fleet.ClickHouse:
		if o.create {
			if err := applySchema(ctx, s, fleet.Schema{Database: s.Database}.Statements()); err != nil {
				return err
			}
		}
		return s.CheckSchema(ctx)
	}
	return nil
}
