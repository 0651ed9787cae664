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
)

const (
	headerTimeout = 5 * time.Second
	answerTimeout = 30 * time.Second
	maxHeader     = 16 << 10
	maxScrapes    = 4 // at the same time
)

// A server answers scrapes.
type server struct {
	http     *http.Server
	listener net.Listener
}

// listen opens the address of the configuration; nil if there is none.
func (a *Agent) listen(ctx context.Context) (*server, error) {
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
	return &server{
		listener: l,
		http: &http.Server{
			Handler: a.handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
			IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		},
	}, nil
}

// run answers until ctx ends, and finishes the answers that it has begun.
func (s *server) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = s.http.Shutdown(last) // what does not end is cut off with the process
	})
	defer stop()
	_ = s.http.Serve(s.listener) // it ends with Shutdown
}

// handler answers the paths of the agent.
func (a *Agent) handler() http.Handler {
	own := prometheus.NewRegistry()
	own.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.with(own), promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes,
	}))
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
