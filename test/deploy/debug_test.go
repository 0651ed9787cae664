package deploy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// webPod is a pod whose containers run as the user of Microsoft's images.
const webPod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "default", "uid": "1"}, "spec": {
	"securityContext": {"runAsUser": 1654, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
	"containers": [{"name": "web", "image": "web:1.0", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]
}}`

// apiServer answers as a Kubernetes API with one pod, and returns what a patch of the pod's
// ephemeral containers was.
func apiServer(t *testing.T) (url string, patch *[]byte) {
	t.Helper()
	patch = new([]byte)
	answers := map[string]string{
		"/api":    `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/apis":   `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`,
		"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "pods", "namespaced": true, "kind": "Pod", "verbs": ["get", "patch"]}]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/pods/web-1/ephemeralcontainers") {
			*patch, _ = io.ReadAll(r.Body)
		}
		answer, is := answers[r.URL.Path]
		if !is {
			answer = webPod
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, patch
}

// TestDebug runs the command of docs/deploy.md that follows a program without an agent. What
// it adds to a pod runs gctrail without a shell, and keeps to the "restricted" standard.
func TestDebug(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	doc, err := os.ReadFile(root + "/docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "\n    kubectl debug ")
	if !found {
		t.Fatal("docs/deploy.md has no such command")
	}
	line, _, _ := strings.Cut(rest, "\n")
	url, patch := apiServer(t)
	args := append([]string{"--kubeconfig", os.DevNull, "--cache-dir", t.TempDir(), "--server", url, "debug"}, strings.Fields(line)...)
	if out, err := exec.Command(kubectl, args...).CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", line, err, out)
	}
	var changed struct {
		Spec struct{ EphemeralContainers []object }
	}
	if err := json.Unmarshal(*patch, &changed); err != nil || len(changed.Spec.EphemeralContainers) != 1 {
		t.Fatalf("patch %q: %v", *patch, err)
	}
	added := changed.Spec.EphemeralContainers[0]
	if added["targetContainerName"] != "web" || added.at("command", 0) != "/gctrail" {
		t.Errorf("container %v", added)
	}
	var pod object
	if err := json.Unmarshal([]byte(webPod), &pod); err != nil {
		t.Fatal(err)
	}
	spec := pod["spec"].(map[string]any)
	spec["ephemeralContainers"] = []any{added}
	checkRestricted(t, spec)
	if port := fmt.Sprint(added["command"]); !strings.Contains(port, "127.0.0.1:8080") || !strings.Contains(string(doc), "kubectl port-forward web-1 8080\n") {
		t.Errorf("the port of %s is not forwarded", port)
	}
}
