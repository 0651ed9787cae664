package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

const (
	root      = "../.."
	chartPath = root + "/deploy/helm/gctrail"
)

// An object is one of Kubernetes.
type object map[string]any

// at returns the value at a path of fields and positions, or nil.
func (o object) at(path ...any) any {
	var v any = map[string]any(o)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

func load(t *testing.T, path string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns the objects of a chart with values, by kind and name.
func render(t *testing.T, c *chart.Chart, values string) map[string]object {
	t.Helper()
	objects, err := tryRender(c, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func tryRender(c *chart.Chart, values string) (map[string]object, error) {
	v, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, v); err != nil {
		return nil, err
	}
	v, err = chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "test", Namespace: "observability", Revision: 1, IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Engine{Strict: true}.Render(c, v)
	if err != nil {
		return nil, err
	}
	objects := make(map[string]object)
	for path, text := range texts {
		if !strings.HasSuffix(path, ".yaml") {
			continue
		}
		if err := decode(objects, text); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", path, err, text)
		}
	}
	return objects, nil
}

// decode adds the objects of a text.
func decode(objects map[string]object, text string) error {
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if o != nil {
			objects[fmt.Sprint(o["kind"], " ", object(o).at("metadata", "name"))] = o
		}
	}
}

func names(objects map[string]object) []string {
	var all []string
	for name := range objects {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// everything enables all parts of the chart.
const everything = `
image: {digest: sha256:0123, tag: ignored}
imagePullSecrets: [{name: registry}]
env: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4318"}]
config: {exclude: ["gctrail*"], otlp: {interval: 15s}, rules: [{name: long pause, when: "pause>200ms"}], captures: {folder: /var/lib/gctrail/captures}}
podLabels: {team: platform}
priorityClassName: system-node-critical
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}
podMonitor: {enabled: true, labels: {release: prometheus}}
prometheusRule: {enabled: true}
dashboards: {enabled: true}
networkPolicy: {enabled: true, from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
`

// TestChart: the chart installs the objects that the values ask for, and Kubernetes
// accepts them.
func TestChart(t *testing.T) {
	for name, test := range map[string]struct {
		values string
		want   []string
	}{
		"default":           {"", []string{"ConfigMap test-gctrail", "DaemonSet test-gctrail", "NetworkPolicy test-gctrail"}},
		"no network policy": {"networkPolicy: {enabled: false}", []string{"ConfigMap test-gctrail", "DaemonSet test-gctrail"}},
		"everything": {everything, []string{
			"ConfigMap test-gctrail", "ConfigMap test-gctrail-fleet", "ConfigMap test-gctrail-process", "DaemonSet test-gctrail",
			"NetworkPolicy test-gctrail", "PodMonitor test-gctrail", "PrometheusRule test-gctrail",
		}},
		"nothing": {"daemonset: false", nil},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, load(t, chartPath), test.values)
			if got := names(objects); !slices.Equal(got, test.want) {
				t.Fatalf("%q, want %q", got, test.want)
			}
			for _, o := range objects {
				checkObject(t, o)
			}
			if d := objects["DaemonSet test-gctrail"]; d != nil {
				checkDaemonSet(t, d)
				checkPrivileges(t, d)
				checkConfig(t, objects["ConfigMap test-gctrail"].at("data", "agent.yaml").(string), d.at("spec", "template", "spec", "containers", 0, "args").([]any))
			}
		})
	}
}

// checkObject holds an object against the schemas of Kubernetes, or against the types of
// the Prometheus Operator.
func checkObject(t *testing.T, o object) {
	t.Helper()
	if strings.HasPrefix(o["apiVersion"].(string), "monitoring.coreos.com/") {
		checkOperator(t, o)
		return
	}
	for _, version := range versions {
		if err := validate(t, version, o); err != nil {
			t.Errorf("Kubernetes %s: %s %s: %v", version, o["kind"], o.at("metadata", "name"), err)
		}
	}
	pod, _ := o["spec"].(map[string]any)
	if template, is := o.at("spec", "template", "spec").(map[string]any); is {
		pod = template
	}
	if pod["containers"] != nil {
		checkPod(t, pod)
	}
}

// checkPod expects that a pod contains the volumes and ports that it names.
func checkPod(t *testing.T, pod object) {
	t.Helper()
	volumes := make(map[any]bool)
	for i := 0; pod.at("volumes", i) != nil; i++ {
		volumes[pod.at("volumes", i, "name")] = true
	}
	for i := 0; pod.at("containers", i) != nil; i++ {
		var c object = pod.at("containers", i).(map[string]any)
		for j := 0; c.at("volumeMounts", j) != nil; j++ {
			if name := c.at("volumeMounts", j, "name"); !volumes[name] {
				t.Errorf("container %v mounts %v, which the pod does not have", c["name"], name)
			}
		}
		for _, probe := range []string{"readinessProbe", "livenessProbe"} {
			if p := c.at(probe, "httpGet", "port"); p != nil && p != c.at("ports", 0, "name") {
				t.Errorf("%s of container %v asks port %v", probe, c["name"], p)
			}
		}
		if c["image"] == "" || c["image"] == nil {
			t.Errorf("container %v has no image", c["name"])
		}
	}
}

func checkDaemonSet(t *testing.T, d object) {
	t.Helper()
	selector, _ := d.at("spec", "selector", "matchLabels").(map[string]any)
	if len(selector) == 0 {
		t.Error("the selector is empty")
	}
	for key, value := range selector {
		if got := d.at("spec", "template", "metadata", "labels", key); got != value {
			t.Errorf("pods have %s=%v, the selector %v", key, got, value)
		}
	}
	if d.at("spec", "template", "spec", "hostPID") != true {
		t.Error("pods do not see the processes of the node")
	}
}

// checkConfig has the agent itself read its configuration, with the arguments of the
// container.
func checkConfig(t *testing.T, text string, args []any) {
	t.Helper()
	binary := os.Getenv("GCTRAIL_BINARY")
	if binary == "" {
		binary = filepath.Join(t.TempDir(), "gctrail")
		cmd := exec.Command("go", "build", "-o", binary, "./cmd/gctrail")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var command []string
	for _, arg := range args {
		command = append(command, strings.ReplaceAll(arg.(string), "/etc/gctrail/agent.yaml", path))
	}
	out, err := exec.Command(binary, append(command, "--print-config")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	var got, want map[string]any
	if err := errors.Join(yaml.Unmarshal(out, &got), yaml.Unmarshal([]byte(text), &want)); err != nil {
		t.Fatal(err)
	}
	if got["listen"] != want["listen"] || want["listen"] != "0.0.0.0:9464" {
		t.Errorf("listen: %v, want %v", got["listen"], want["listen"])
	}
	if folder := object(got).at("ledger", "folder"); folder != "/var/lib/gctrail" {
		t.Errorf("ledger: %v", folder)
	}
}

// Values decide images, ports and labels.
func TestValues(t *testing.T) {
	agent := func(values string) object {
		return render(t, load(t, chartPath), values)["DaemonSet test-gctrail"].at("spec", "template").(map[string]any)
	}
	version := load(t, chartPath).AppVersion()
	for values, want := range map[string]string{
		"":                    "ghcr.io/gctrail/gctrail:" + version,
		"image: {tag: 1.2.3}": "ghcr.io/gctrail/gctrail:1.2.3",
		"image: {repository: r, digest: sha256:00}": "r@sha256:00",
	} {
		if got := agent(values).at("spec", "containers", 0, "image"); got != want {
			t.Errorf("%s: image %v, want %s", values, got, want)
		}
	}
	other := agent(`config: {listen: "0.0.0.0:9999"}`)
	if port := other.at("spec", "containers", 0, "ports", 0, "containerPort"); port != 9999 {
		t.Errorf("port %v", port)
	}
	if port := other.at("metadata", "annotations", "prometheus.io/port"); port != "9999" {
		t.Errorf("annotated port %v", port)
	}
	if a, b := agent("").at("metadata", "annotations", "gctrail/config"), other.at("metadata", "annotations", "gctrail/config"); a == b {
		t.Error("another configuration does not restart the agents")
	}
}

// The agent reads the token of a Secret from a file that only it can read.
func TestTokenSecret(t *testing.T) {
	objects := render(t, load(t, chartPath), "tokenSecret: captures")
	agent := objects["DaemonSet test-gctrail"]
	checkObject(t, agent)
	checkPrivileges(t, agent)
	var config object
	if err := yaml.Unmarshal([]byte(objects["ConfigMap test-gctrail"].at("data", "agent.yaml").(string)), &config); err != nil {
		t.Fatal(err)
	}
	var pod object = agent.at("spec", "template", "spec").(map[string]any)
	mount := pod.at("containers", 0, "volumeMounts", 2)
	if fmt.Sprint(mount) != "map[mountPath:/run/secrets/gctrail name:token readOnly:true]" || config["token-file"] != "/run/secrets/gctrail/token" {
		t.Errorf("token file %v in %v", config["token-file"], mount)
	}
	if got := fmt.Sprint(pod.at("volumes", 2)); got != "map[name:token secret:map[defaultMode:256 items:[map[key:token path:token]] secretName:captures]]" {
		t.Errorf("volume %s", got)
	}
	if plain := render(t, load(t, chartPath), "")["ConfigMap test-gctrail"].at("data", "agent.yaml").(string); strings.Contains(plain, "token") {
		t.Errorf("without a Secret: %s", plain)
	}
}

// Values that the chart does not know are refused.
func TestUnknownValues(t *testing.T) {
	for _, values := range []string{"daemonSet: true", "image: {name: x}", "podMonitor: {enabled: 1}", "config: {listen: ''}"} {
		if _, err := tryRender(load(t, chartPath), values); err == nil {
			t.Errorf("%s: no error", values)
		}
	}
}

// A chart that has gctrail's as a dependency puts the agent beside its program.
func TestSidecar(t *testing.T) {
	parent := load(t, "testdata/web")
	parent.AddDependency(load(t, chartPath))
	objects := render(t, parent, "")
	if got := names(objects); !slices.Equal(got, []string{"Deployment test-web"}) {
		t.Fatalf("%q", got)
	}
	web := objects["Deployment test-web"]
	checkObject(t, web)
	checkRestricted(t, web.at("spec", "template", "spec").(map[string]any))
	args := fmt.Sprint(web.at("spec", "template", "spec", "containers", 1, "args"))
	if args != "[agent --quiet --listen 0.0.0.0:9464]" {
		t.Errorf("arguments %s", args)
	}
}

// TestManifests: Kubernetes accepts the manifests without Helm, too.
func TestManifests(t *testing.T) {
	paths, err := filepath.Glob(root + "/deploy/kubernetes/*.yaml")
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		objects := make(map[string]object)
		if err := decode(objects, string(text)); err != nil {
			t.Fatal(path, err)
		}
		for _, o := range objects {
			checkObject(t, o)
			switch o["kind"] {
			case "DaemonSet":
				checkDaemonSet(t, o)
				checkPrivileges(t, o)
			case "Pod":
				checkRestricted(t, o["spec"].(map[string]any))
			}
		}
	}
}

// TestSchemasRefuse: the schemas refuse invalid manifests, so that these tests can fail.
func TestSchemasRefuse(t *testing.T) {
	text, err := os.ReadFile(root + "/deploy/kubernetes/daemonset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"misspelled field": {"hostPID:", "hostPid:"},
		"missing field":    {"- name: agent", "- command: []"},
		"wrong type":       {"runAsUser: 0", "runAsUser: root"},
		"wrong place":      {"spec:\n", "spec:\n  hostPID: true\n"},
	} {
		wrong := strings.Replace(string(text), edit[0], edit[1], 1)
		if bytes.Equal(text, []byte(wrong)) {
			t.Fatal(name)
		}
		objects := make(map[string]object)
		if err := decode(objects, wrong); err != nil {
			t.Fatal(name, err)
		}
		if err := validate(t, versions[1], objects["DaemonSet gctrail-agent"]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Helm's linter has nothing to say.
func TestLint(t *testing.T) {
	l := lint.AllWithKubeVersion(chartPath, nil, "observability", &chartutil.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"})
	for _, m := range l.Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}

// TestFiles: the files in the chart, which Helm reads from nowhere else, equal the ones
// in deploy.
func TestFiles(t *testing.T) {
	c := load(t, chartPath)
	for name, path := range map[string]string{
		"files/process.json": "grafana/process.json", "files/fleet.json": "grafana/fleet.json",
		"files/gctrail.rules.yml": "prometheus/gctrail.rules.yml",
	} {
		want, err := os.ReadFile(filepath.Join(root, "deploy", path))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(c.Files, func(f *chart.File) bool { return f.Name == name })
		if i < 0 || !bytes.Equal(c.Files[i].Data, want) {
			t.Errorf("%s is not %s", name, path)
		}
	}
	everything := render(t, c, everything)
	want, err := os.ReadFile(filepath.Join(root, "deploy/prometheus/gctrail.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules map[string]any
	if err := yaml.Unmarshal(want, &rules); err != nil {
		t.Fatal(err)
	}
	if got := everything["PrometheusRule test-gctrail"].at("spec"); fmt.Sprint(got) != fmt.Sprint(rules) {
		t.Errorf("rules: %v", got)
	}
}
