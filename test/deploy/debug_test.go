package deploy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
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

// commands returns the commands of docs/deploy.md that begin with kubectl, without that.
func commands(t *testing.T) [][]string {
	t.Helper()
	doc, err := os.ReadFile(root + "/docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	for line := range strings.Lines(string(doc)) {
		if command, is := strings.CutPrefix(line, "    kubectl "); is {
			command, _, _ = strings.Cut(command, " # ")
			command, _, _ = strings.Cut(command, " >")
			found = append(found, strings.Fields(command))
		}
	}
	return found
}

func kubectl(t *testing.T) *cobra.Command {
	t.Helper()
	util.BehaviorOnFatal(func(why string, _ int) { t.Errorf("kubectl: %s", why) })
	return cmd.NewKubectlCommand(cmd.KubectlOptions{
		ConfigFlags: genericclioptions.NewConfigFlags(true), IOStreams: genericiooptions.NewTestIOStreamsDiscard(),
	})
}

// TestDebug runs the command of docs/deploy.md that follows a program without an agent. What
// it adds to a pod runs gctrail without a shell, and keeps to the "restricted" standard.
func TestDebug(t *testing.T) {
	for user, custom := range map[any]string{nil: "", 1654.0: "securityContext: {runAsUser: 1654}\n"} {
		url, patch := apiServer(t)
		k, command := kubectl(t), commands(t)[0]
		args := []string{"--kubeconfig", os.DevNull, "--cache-dir", t.TempDir(), "--server", url, command[0]}
		if custom != "" {
			path := filepath.Join(t.TempDir(), "user.yaml")
			if err := os.WriteFile(path, []byte(custom), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--custom="+path)
		}
		k.SetArgs(append(args, command[1:]...))
		if err := k.Execute(); err != nil {
			t.Fatal(err)
		}
		var changed struct {
			Spec struct{ EphemeralContainers []object }
		}
		if err := json.Unmarshal(*patch, &changed); err != nil || len(changed.Spec.EphemeralContainers) != 1 {
			t.Fatalf("patch %q: %v", *patch, err)
		}
		added := changed.Spec.EphemeralContainers[0]
		if added["targetContainerName"] != "web" || added.at("command", 0) != "/gctrail" || added.at("securityContext", "runAsUser") != user {
			t.Errorf("container %v", added)
		}
		var pod object
		if err := json.Unmarshal([]byte(webPod), &pod); err != nil {
			t.Fatal(err)
		}
		spec := pod["spec"].(map[string]any)
		spec["ephemeralContainers"] = []any{added}
		checkRestricted(t, spec)
	}
}

// TestRecipe checks that kubectl and gctrail know the commands of docs/deploy.md and their flags,
// and that they go to the container and the port of the first.
func TestRecipe(t *testing.T) {
	binary := os.Getenv("GCTRAIL_BINARY")
	if binary == "" {
		t.Skip("GCTRAIL_BINARY is not set")
	}
	names := make(map[string]int)
	for _, command := range commands(t) {
		c, args, err := kubectl(t).Find(command)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.ParseFlags(args); err != nil {
			t.Errorf("%q: %v", command, err)
		}
		names[c.Name()]++
		all := strings.Join(command, " ")
		if container, err := c.Flags().GetString("container"); err == nil && container != "gctrail" || c.Flags().Arg(0) != "web-1" {
			t.Errorf("%s: container %q, pod %q", all, container, c.Flags().Arg(0))
		}
		if _, own, is := strings.Cut(all, " -- /gctrail "); is {
			if out, err := exec.Command(binary, append(strings.Fields(own), "--help")...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", all, err, out)
			}
		}
		if c.Name() == "port-forward" && (c.Flags().Arg(1) != "8080" || !slices.Contains(commands(t)[0], "127.0.0.1:8080")) {
			t.Errorf("%s: port %s", all, c.Flags().Arg(1))
		}
	}
	if names["debug"] != 1 || names["exec"] == 0 || names["port-forward"] != 1 {
		t.Errorf("commands: %v", names)
	}
}
