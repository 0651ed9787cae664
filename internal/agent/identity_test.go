package agent

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLongValues checks that values set by a program are cut between characters, and
// configured values are not cut.
func TestLongValues(t *testing.T) {
	for _, char := range []string{"a", "é", "€", "𝄞"} {
		o := outside{environment: map[string]string{"OTEL_SERVICE_NAME": "x" + strings.Repeat(char, 200)}}
		service := identify(program(1, "web"), &o, "", nil).text("service.name")
		if len(service) > maxValue || len(service) <= maxValue-len(char) || !utf8.ValidString(service) {
			t.Errorf("%q: %d bytes: %q", char, len(service), service)
		}
	}
	long := strings.Repeat("t", 300)
	if got := identify(program(1, "web"), new(outside), "", map[string]string{"team": long})["team"]; got != long {
		t.Errorf("configured attribute %q", got)
	}
}

// TestNamespaceOfPod checks that the kubelet's namespace wins over the program's, and
// that the program's is used without it.
func TestNamespaceOfPod(t *testing.T) {
	environment := map[string]string{
		"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAMESPACE": "said",
		"OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.uid=said",
	}
	for _, tt := range []struct {
		of             outside
		namespace, pod string
	}{
		{outside{namespace: "shop", pod: "1-2", environment: environment}, "shop", "1-2"},
		{outside{namespace: "shop", environment: map[string]string{}}, "shop", ""},
		{outside{environment: environment}, "said", "said"},
		{outside{environment: map[string]string{}}, "", ""},
	} {
		id := identify(program(1, "web"), &tt.of, "", nil)
		if got := id.text("k8s.namespace.name"); got != tt.namespace {
			t.Errorf("%+v: namespace %q", tt.of, got)
		}
		if got := id.text("k8s.pod.uid"); got != tt.pod {
			t.Errorf("%+v: pod %q", tt.of, got)
		}
	}
}
