package otlp

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// FromEnvironment returns the options that the OTEL_EXPORTER_OTLP_… variables set. Get
// returns the value of a variable, as os.Getenv does. Without an endpoint, there is
// nothing to send to. See opentelemetry.io/docs/specs/otel/protocol/exporter.
func FromEnvironment(get func(string) string) (Options, error) {
	const prefix = "OTEL_EXPORTER_OTLP_"
	opts := Options{
		Endpoint:        get(prefix + "ENDPOINT"),
		LogsEndpoint:    get(prefix + "LOGS_ENDPOINT"),
		MetricsEndpoint: get(prefix + "METRICS_ENDPOINT"),
		Uncompressed:    get(prefix+"COMPRESSION") == "none",
	}
	if protocol := get(prefix + "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return opts, fmt.Errorf("%sPROTOCOL=%s: only http/protobuf is supported", prefix, protocol)
	}
	if timeout := get(prefix + "TIMEOUT"); timeout != "" {
		ms, err := strconv.ParseUint(timeout, 10, 31)
		if err != nil {
			return opts, fmt.Errorf("%sTIMEOUT=%s: give milliseconds", prefix, timeout)
		}
		opts.Timeout = time.Duration(ms) * time.Millisecond
	}
	headers, err := ParsePairs(get(prefix + "HEADERS"))
	if err != nil {
		return opts, fmt.Errorf("%sHEADERS: %w", prefix, err)
	}
	opts.Headers = headers
	return opts, nil
}

// ParsePairs reads a list such as "a=1,b=x%20y" (OTEL_EXPORTER_OTLP_HEADERS,
// OTEL_RESOURCE_ATTRIBUTES), whose values are percent-encoded.
func ParsePairs(list string) (map[string]string, error) {
	pairs := make(map[string]string)
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		if !found || key == "" {
			return nil, fmt.Errorf("%q is not key=value", pair)
		}
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", pair, err)
		}
		pairs[key] = decoded
	}
	return pairs, nil
}
