package fleet

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestOtherSignals sends metrics and traces: the answer gives the reason, the first of each
// is reported, and all are counted.
func TestOtherSignals(t *testing.T) {
	var reported []string
	r := receiver(&memory{}, "secret")
	r.OnRefusal(func(why string) { reported = append(reported, why) })
	h := r.Handler()
	send := func(method, path, token string) *httptest.ResponseRecorder {
		req, w := httptest.NewRequest(method, path, http.NoBody), httptest.NewRecorder()
		req.Header.Set("Authorization", "Bearer "+token)
		h.ServeHTTP(w, req)
		return w
	}
	if w := send(http.MethodPost, "/v1/metrics", "wrong"); w.Code != http.StatusUnauthorized || len(reported) != 0 {
		t.Errorf("status %d without the token, reported: %q", w.Code, reported)
	}
	for _, path := range []string{"/v1/metrics", "/v1/metrics", "/v1/traces"} {
		w := send(http.MethodPost, path, "secret")
		_, _, n := protowire.ConsumeTag(w.Body.Bytes())
		why, _ := protowire.ConsumeString(w.Body.Bytes()[n:])
		if w.Code != http.StatusNotFound || !strings.Contains(why, "refuses "+path[len("/v1/"):]) {
			t.Errorf("%s: status %d, %q", path, w.Code, why)
		}
	}
	if len(reported) != 2 || !strings.Contains(reported[0], "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT") {
		t.Errorf("reported: %q", reported)
	}
	counts := send(http.MethodGet, "/metrics", "").Body.String()
	for _, line := range []string{`gctrail_fleet_other_signal_requests_total{signal="metrics"} 2`, `gctrail_fleet_other_signal_requests_total{signal="traces"} 1`, "gctrail_fleet_refused_requests_total 4"} {
		if !strings.Contains(counts, line+"\n") {
			t.Errorf("%s is not in %s", line, counts)
		}
	}
}
