package fleet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/internal/guard"
)

const (
	maxBody    = 8 << 20  // of a request as it is sent
	maxMessage = 32 << 20 // of a request, decompressed
	maxRows    = 48 << 20 // of the rows of a request
	// maxRequests bounds the requests that are decoded at the same time; others
	// wait.
	maxRequests = 4

	oldest = 31 * 24 * time.Hour // of a record
	ahead  = 24 * time.Hour      // that a record's clock may be

	mediaProtobuf = "application/x-protobuf"
	retryAfter    = "2" // seconds
)

// A Receiver receives OTLP logs over HTTP. It answers when their rows are stored, so that
// a sender can drop its records after the answer. Any number of receivers can run behind
// a load balancer, because they have no state.
type Receiver struct {
	token string // empty for none
	now   func() time.Time

	batches  batcher
	decoding chan struct{}
	decoders sync.Pool

	counts  counts
	refusal func(string)
	signals map[string]*signal
}

// counts are totals since the start of a receiver.
type counts struct {
	requests, refused, stored, rejected, others, failures atomic.Int64
}

// A signal is one of OTLP's that a receiver does not take.
type signal struct {
	why      string
	requests atomic.Int64
}

// otherSignals returns the signals that a receiver refuses, by name.
func otherSignals() map[string]*signal {
	const only = "gctrail fleet receive stores logs only, and refuses "
	return map[string]*signal{
		"metrics": {why: only + "metrics: send them to Prometheus, or set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT in place of OTEL_EXPORTER_OTLP_ENDPOINT to send none"},
		"traces":  {why: only + "traces"},
	}
}

// NewReceiver returns a receiver that stores rows in store. If token is not empty,
// requests must carry it as their bearer token. Rows of requests that arrive within
// delay are stored together.
func NewReceiver(store Store, token string, delay time.Duration) *Receiver {
	r := &Receiver{
		token: token, now: time.Now,
		decoding: make(chan struct{}, maxRequests),
		batches:  batcher{store: store, delay: delay, open: make(map[*Table]*batch)},
		refusal:  func(string) {}, signals: otherSignals(),
	}
	r.decoders.New = func() any {
		d := &decoder{max: maxRows, scratch: make(map[*Table]Row)}
		for _, t := range Tables() {
			d.scratch[t] = make(Row, len(t.Columns))
		}
		return d
	}
	return r
}

// OnRefusal sets a function to be called with the reason when requests with metrics, or
// with traces, are first refused. Call it before Handler.
func (r *Receiver) OnRefusal(f func(why string)) { r.refusal = f }

// Handler returns the receiver's HTTP interface: /v1/logs according to OTLP, and /healthz
// and /metrics, which need no token.
func (r *Receiver) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/logs", r.logs)
	for name, s := range r.signals {
		mux.HandleFunc("POST /v1/"+name, func(w http.ResponseWriter, req *http.Request) { r.other(w, req, s) })
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /metrics", r.metrics)
	return mux
}

// Server returns a server of the receiver that bounds the size and the duration of
// requests.
func (r *Receiver) Server() *http.Server {
	return &http.Server{
		Handler:           r.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30*time.Second + insertTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}

func (r *Receiver) logs(w http.ResponseWriter, req *http.Request) {
	r.counts.requests.Add(1)
	if !r.allowed(req) {
		r.refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
		return
	}
	if media, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || media != mediaProtobuf {
		r.refuse(w, http.StatusUnsupportedMediaType, "send OTLP as "+mediaProtobuf)
		return
	}
	select {
	case r.decoding <- struct{}{}:
	case <-req.Context().Done():
		return
	}
	d, status, err := r.read(w, req)
	<-r.decoding
	if err != nil {
		r.refuse(w, status, err.Error())
		return
	}
	for t, stored := range d.rows {
		if err := r.batches.add(req.Context(), t, stored); err != nil {
			r.counts.failures.Add(1)
			w.Header().Set("Retry-After", retryAfter)
			r.refuse(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		r.counts.stored.Add(int64(stored.count))
	}
	r.counts.rejected.Add(int64(d.rejected))
	r.counts.others.Add(int64(d.others))
	w.Header().Set("Content-Type", mediaProtobuf)
	_, _ = w.Write(answer(d))
}

func (r *Receiver) allowed(req *http.Request) bool { return r.token == "" || guard.Bears(req, r.token) }

// read decodes the body of a request. If that fails, status is the answer.
func (r *Receiver) read(w http.ResponseWriter, req *http.Request) (_ *decoded, status int, _ error) {
	var body io.Reader = http.MaxBytesReader(w, req.Body, maxBody)
	switch req.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return nil, http.StatusBadRequest, errors.New("the body is not gzip")
		}
		body = unpacked
	default:
		return nil, http.StatusUnsupportedMediaType, errors.New("send the body plain or with gzip")
	}
	var message bytes.Buffer
	n, err := message.ReadFrom(io.LimitReader(body, maxMessage+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || n > maxMessage:
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d MiB, or %d MiB unpacked: send fewer records at a time", maxBody>>20, maxMessage>>20)
	case err != nil:
		return nil, http.StatusBadRequest, errors.New("the body is cut or damaged")
	}
	d := r.decoders.Get().(*decoder)
	defer r.decoders.Put(d)
	now := r.now()
	out := &decoded{rows: make(map[*Table]*rows)}
	d.oldest, d.newest = now.Add(-oldest).UnixNano(), now.Add(ahead).UnixNano()
	switch err := d.decode(message.Bytes(), out); {
	case errors.Is(err, errTooLarge):
		return nil, http.StatusRequestEntityTooLarge, err
	case err != nil:
		return nil, http.StatusBadRequest, err
	}
	return out, 0, nil
}

// answer returns an ExportLogsServiceResponse, with a partial success if records were
// rejected. See opentelemetry-proto's logs_service.proto.
func answer(d *decoded) []byte {
	if d.rejected == 0 {
		return nil
	}
	var partial []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, uint64(d.rejected))
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, d.why)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}

// refuse answers with a google.rpc.Status, as OTLP asks for.
func (r *Receiver) refuse(w http.ResponseWriter, status int, message string) {
	r.counts.refused.Add(1)
	w.Header().Set("Content-Type", mediaProtobuf)
	w.WriteHeader(status)
	_, _ = w.Write(protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), message))
}

// other refuses a request with a signal that is not stored, in a way that a sender does
// not repeat it.
func (r *Receiver) other(w http.ResponseWriter, req *http.Request, s *signal) {
	if !r.allowed(req) {
		r.refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
		return
	}
	if s.requests.Add(1) == 1 {
		r.refusal(s.why)
	}
	r.refuse(w, http.StatusNotFound, s.why)
}

// metrics answers with the counts, in the Prometheus text format.
func (r *Receiver) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, m := range []struct {
		name, help string
		value      *atomic.Int64
	}{
		{"requests", "Requests with logs.", &r.counts.requests},
		{"refused_requests", "Requests that were answered with an error.", &r.counts.refused},
		{"stored_records", "Records that were stored and acknowledged.", &r.counts.stored},
		{"rejected_records", "Records of gctrail that could not be stored as they were.", &r.counts.rejected},
		{"other_records", "Records that are not gctrail's, and were left out.", &r.counts.others},
		{"store_failures", "Requests that the store failed to keep; senders repeat them.", &r.counts.failures},
	} {
		name := "gctrail_fleet_" + m.name + "_total"
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n%s %d\n", name, m.help, name, name, m.value.Load())
	}
	const name = "gctrail_fleet_other_signal_requests_total"
	fmt.Fprintf(w, "# HELP %s Requests with signals that are not stored, all refused.\n# TYPE %s counter\n", name, name)
	for _, s := range slices.Sorted(maps.Keys(r.signals)) {
		fmt.Fprintf(w, "%s{signal=%q} %d\n", name, s, r.signals[s].requests.Load())
	}
}

// Stored returns how many records were stored and acknowledged since the start.
func (r *Receiver) Stored() int64 { return r.counts.stored.Load() }
