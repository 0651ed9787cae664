package hosttest

import (
	"compress/gzip"
	"io"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/internal/otlp"
)

// Pushed returns the profile of a request to Pyroscope, for pprof, and its labels. See
// push.proto of grafana/pyroscope: PushRequest, RawProfileSeries and RawSample.
func Pushed(r *http.Request) (labels map[string]string, profile []byte, err error) {
	packed, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, nil, err
	}
	request, err := io.ReadAll(packed)
	if err != nil {
		return nil, nil, err
	}
	series := only(request, 1)
	labels = make(map[string]string)
	for _, label := range fields(series, 1) {
		labels[string(only(label, 1))] = string(only(label, 2))
	}
	return labels, only(only(series, 2), 1), nil
}

// fields returns the fields of a message of protobuf with a number.
func fields(message []byte, number protowire.Number) (found [][]byte) {
	_ = otlp.EachBytes(message, number, func(value []byte) error {
		found = append(found, value)
		return nil
	})
	return found
}

// only returns the only field of a message with a number, empty if there is none.
func only(message []byte, number protowire.Number) []byte {
	if found := fields(message, number); len(found) == 1 {
		return found[0]
	}
	return nil
}
