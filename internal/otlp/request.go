package otlp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// endpoints returns the URLs of the signals, empty for one without an endpoint.
func endpoints(opts *Options) (urls [numSignals]string, err error) {
	whole := [numSignals]string{Logs: opts.LogsEndpoint, Metrics: opts.MetricsEndpoint, Profiles: opts.ProfilesEndpoint}
	if opts.Endpoint == "" && whole == ([numSignals]string{}) {
		return urls, check("")
	}
	for s := range numSignals {
		given := whole[s]
		if s != Profiles {
			given = cmp.Or(given, opts.Endpoint)
		}
		if given == "" {
			continue
		}
		if err := check(given); err != nil {
			return urls, err
		}
		if urls[s] = whole[s]; urls[s] == "" {
			urls[s] = strings.TrimSuffix(opts.Endpoint, "/") + "/v1/" + s.String()
		}
	}
	return urls, nil
}

func check(endpoint string) error {
	if !IsURL(endpoint) {
		return fmt.Errorf("%q is not an http or https URL, such as http://127.0.0.1:4318", endpoint)
	}
	return nil
}

// IsURL reports whether an endpoint is an http or https URL.
func IsURL(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// A verdict is the outcome of a request.
type verdict struct {
	again    bool          // it is to be sent once more
	after    time.Duration // that the endpoint asks to wait before
	rejected int           // items
	err      error
}

const mediaProtobuf = "application/x-protobuf"

// maxAnswer bounds the bytes read of an answer.
const maxAnswer = 64 << 10

func (s *Sender) send(ctx context.Context, r *request) verdict {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.urls[r.signal], bytes.NewReader(r.body))
	if err != nil {
		return verdict{rejected: r.items, err: err}
	}
	for name, value := range s.opts.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", s.opts.Media)
	if !s.opts.Uncompressed {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return verdict{again: true, err: err}
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // a broken answer to a request that was taken is not a failure
	return judge(resp, answer, r.items)
}

// judge reads an answer. Only four statuses mean that the request may be repeated; see "Retryable
// Response Codes" of the specification.
func judge(resp *http.Response, answer []byte, items int) verdict {
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		rejected, message := partialSuccess(answer)
		if rejected == 0 {
			return verdict{}
		}
		return verdict{rejected: rejected, err: fmt.Errorf("%d of %d rejected: %s", rejected, items, message)}
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return verdict{again: true, after: retryAfter(resp.Header.Get("Retry-After"), time.Now()), err: errors.New(resp.Status)}
	}
	err := errors.New(resp.Status)
	why := ""
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media {
	case mediaProtobuf:
		why = statusMessage(answer)
	case "application/json":
		why = jsonMessage(answer)
	}
	if why != "" {
		err = fmt.Errorf("%s: %s", resp.Status, why)
	}
	return verdict{rejected: items, err: err}
}

// longestMessage bounds a message of an endpoint, in bytes.
const longestMessage = 1024

// jsonMessage returns the message of an error of the Connect protocol; empty for another
// answer.
func jsonMessage(answer []byte) string {
	var v struct{ Message string }
	if json.Unmarshal(answer, &v) != nil || len(v.Message) > longestMessage {
		return ""
	}
	return v.Message
}

// statusMessage returns the message of a google.rpc.Status, with which endpoints refuse
// requests; empty for another answer.
func statusMessage(answer []byte) (message string) {
	const fieldMessage = 2
	_ = EachBytes(answer, fieldMessage, func(text []byte) error {
		if len(text) <= longestMessage && utf8.Valid(text) {
			message = string(text)
		}
		return nil
	})
	return message
}

// retryAfter returns how long a Retry-After header asks to wait: seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// Fields of Export…ServiceResponse and Export…PartialSuccess, which are numbered
// alike for all signals.
const (
	fieldPartialSuccess = 1
	fieldRejected       = 1
	fieldErrorMessage   = 2
)

// partialSuccess returns how many items an answer rejects, and why.
func partialSuccess(answer []byte) (rejected int, message string) {
	_ = EachBytes(answer, fieldPartialSuccess, func(partial []byte) error {
		return EachField(partial, func(number protowire.Number, typ protowire.Type, value []byte) error {
			switch {
			case number == fieldRejected && typ == protowire.VarintType:
				n, _ := protowire.ConsumeVarint(value)
				rejected = int(max(0, min(int64(n), 1<<31-1)))
			case number == fieldErrorMessage && typ == protowire.BytesType:
				message = string(value)
			}
			return nil
		})
	})
	return rejected, message
}

// ErrMessage reports bytes that are not a message of protobuf.
var ErrMessage = errors.New("not a message of protobuf")

// EachField calls f with every field of a message, until f returns an error. The value of a
// field of bytes is its content, of any other field its encoding.
func EachField(message []byte, f func(number protowire.Number, typ protowire.Type, value []byte) error) error {
	for len(message) > 0 {
		number, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return ErrMessage
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(number, typ, message); n < 0 {
			return ErrMessage
		}
		value := message[:n]
		if typ == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := f(number, typ, value); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// EachBytes calls f with every field of a message that has a number and is a message itself, or
// text, until f returns an error.
func EachBytes(message []byte, number protowire.Number, f func(value []byte) error) error {
	return EachField(message, func(n protowire.Number, typ protowire.Type, value []byte) error {
		if n != number || typ != protowire.BytesType {
			return nil
		}
		return f(value)
	})
}
