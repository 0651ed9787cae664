package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"github.com/gctrail/gctrail/internal/guard"
)

const (
	headerTimeout = 5 * time.Second
	answerTimeout = 30 * time.Second
	maxHeader     = 16 << 10
	maxScrapes    = 4 // at the same time, of a format
)

// listen opens the address of the configuration; nil if there is none.
func (a *Agent) listen(ctx context.Context) (net.Listener, error) {
	if a.config.Listen == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.config.Listen)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fmt.Errorf("cannot listen at %s: %w", a.config.Listen, err)
	}
	return l, nil
}

// addressOf returns the address at which l listens, with the host as it was given.
func addressOf(l net.Listener, given string) string {
	host, _, err := net.SplitHostPort(given)
	_, port, err2 := net.SplitHostPort(l.Addr().String())
	if err != nil || err2 != nil {
		return given
	}
	return net.JoinHostPort(host, port)
}

// serve answers until ctx ends, and finishes its pending answers.
func (a *Agent) serve(ctx context.Context, l net.Listener) {
	server := &http.Server{
		Handler: guard.For(l.Addr()).Wrap(a.handler()), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
	}
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(last) // open requests are cut off with the process
	})
	defer stop()
	_ = server.Serve(l) // it ends with Shutdown
}

// handler answers the paths of the agent.
func (a *Agent) handler() http.Handler {
	own := prometheus.NewRegistry()
	own.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.scrapes(own))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !a.watcher.Counts().Looked {
			http.Error(w, "the machine has not been searched for processes yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "gctrail agent: /metrics /healthz /readyz")
	})
	a.control(mux)
	return mux
}

// scrapes answers scrapes with the agent's metrics and others, in the format that the
// client requests.
func (a *Agent) scrapes(others prometheus.Gatherer) http.Handler {
	answers := make(map[content]http.Handler)
	for _, t := range [...]expfmt.FormatType{expfmt.TypeTextPlain, expfmt.TypeOpenMetrics, expfmt.TypeProtoDelim} {
		answers[contentOf(t)] = promhttp.HandlerFor(a.with(others, contentOf(t)), promhttp.HandlerOpts{
			EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes,
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...) // as promhttp does
		answers[contentOf(format.FormatType())].ServeHTTP(w, r)
	})
}
