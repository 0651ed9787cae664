package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// checkPrivileges expects the agent of a node to have what it needs, and nothing else.
func checkPrivileges(t *testing.T, d object) {
	t.Helper()
	var pod object = d.at("spec", "template", "spec").(map[string]any)
	if profile := pod.at("securityContext", "seccompProfile", "type"); profile != "RuntimeDefault" {
		t.Errorf("seccomp profile %v", profile)
	}
	for _, name := range []string{"hostNetwork", "hostIPC", "tolerations"} {
		if v := pod[name]; v != nil {
			t.Errorf("%s: %v", name, v)
		}
	}
	if strategy := d.at("spec", "updateStrategy", "type"); strategy != "RollingUpdate" {
		t.Errorf("update strategy %v", strategy)
	}
	var own object = pod.at("containers", 0, "securityContext").(map[string]any)
	if own["privileged"] != false || own["allowPrivilegeEscalation"] != false || own["readOnlyRootFilesystem"] != true {
		t.Errorf("security context %v", own)
	}
	if got := fmt.Sprint(own["capabilities"]); got != "map[add:[DAC_OVERRIDE SYS_PTRACE] drop:[ALL]]" {
		t.Errorf("capabilities %s", got)
	}
}

// violations returns the violations of Pod Security's "restricted" standard by a pod, as
// the admission plugin of Kubernetes finds them.
func violations(t *testing.T, pod object) []string {
	t.Helper()
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	var spec corev1.PodSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, r := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &metav1.ObjectMeta{}, &spec) {
		if !r.Allowed {
			found = append(found, r.ForbiddenReason+" ("+r.ForbiddenDetail+")")
		}
	}
	return found
}

func checkRestricted(t *testing.T, pod object) {
	t.Helper()
	for _, v := range violations(t, pod) {
		t.Error("not restricted: ", v)
	}
}

// TestRestrictedRefuses checks that the standard refuses the agent of a node, so that the
// tests of the sidecar can fail.
func TestRestrictedRefuses(t *testing.T) {
	text, err := os.ReadFile(root + "/deploy/kubernetes/daemonset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := make(map[string]object)
	if err := decode(objects, string(text)); err != nil {
		t.Fatal(err)
	}
	found := violations(t, objects["DaemonSet gctrail-agent"].at("spec", "template", "spec").(map[string]any))
	if len(found) < 3 || !slices.ContainsFunc(found, func(s string) bool { return s == "host namespaces (hostPID=true)" }) {
		t.Errorf("%q", found)
	}
}
