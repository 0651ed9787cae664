package docs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A receiver stands in for a Collector and for Pyroscope.
type receiver struct {
	got map[string]chan error // by paths: of the first request
}

// accepted are the paths at which it takes requests, and what checks their bodies.
var accepted = map[string]func([]byte) error{
	"/v1/logs":                    func(body []byte) error { return proto.Unmarshal(body, new(logspb.LogsData)) },
	"/v1/metrics":                 func(body []byte) error { return proto.Unmarshal(body, new(metricspb.MetricsData)) },
	"/v1development/profiles":     isMessage,
	"/push.v1.PusherService/Push": isMessage,
}

// isMessage checks that a body is the encoding of some message. test/e2e reads profiles with the
// types of the Collector and of Pyroscope.
func isMessage(body []byte) error {
	for len(body) > 0 {
		_, _, n := protowire.ConsumeField(body)
		if n < 0 {
			return protowire.ParseError(n)
		}
		body = body[n:]
	}
	return nil
}

// listen starts a receiver in the network of the goroutine, if something is to be received.
func listen(t *testing.T, paths []string) *receiver {
	t.Helper()
	r := &receiver{got: map[string]chan error{}}
	for _, path := range paths {
		r.got[path] = make(chan error, 1)
	}
	if len(paths) == 0 {
		return r
	}
	for _, port := range []string{"4318", "4040"} {
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: r}
		go func() { _ = server.Serve(l) }() // until it is closed
		t.Cleanup(func() { _ = server.Close() })
	}
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	check := accepted[request.URL.Path]
	if check == nil {
		http.NotFound(w, request)
		return
	}
	body, err := bodyOf(request)
	if err == nil {
		err = check(body)
	}
	select {
	case r.got[request.URL.Path] <- err:
	default: // it is not the first, or not awaited
	}
	w.Header().Set("Content-Type", request.Header.Get("Content-Type"))
}

// bodyOf returns the body of a request, which is not empty.
func bodyOf(request *http.Request) ([]byte, error) {
	var in io.Reader = request.Body
	if request.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = z
	}
	body, err := io.ReadAll(in)
	if err == nil && len(body) == 0 {
		err = errors.New("a request without a body")
	}
	return body, err
}

// await waits for a request at each path.
func (r *receiver) await(ended <-chan struct{}) error {
	for path, got := range r.got {
		select {
		case err := <-got:
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		case <-ended:
			return fmt.Errorf("it ended before it sent anything to %s", path)
		}
	}
	return nil
}

// store has a receiver of gctrail store records, and returns the status of its answer.
func store(handler http.Handler, body []byte) int {
	request := httptest.NewRequest(http.MethodPost, "/v1/logs", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/x-protobuf")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}
