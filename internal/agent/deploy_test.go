package agent

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const deploy = "../../deploy"

// expressions returns the queries of the dashboards by their place, with values for
// Grafana's variables.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	paths, err := filepath.Glob(deploy + "/grafana/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Panels []struct {
				Title   string
				Targets []struct{ RefID, Expr string }
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(path, err)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all[filepath.Base(path)+": "+p.Title+" "+target.RefID] = strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			}
		}
	}
	return all
}

var metricName = regexp.MustCompile(`\b(?:dotnet|gctrail)_[a-z0-9_]*[a-z0-9]\b`)

// TestDeployedMetrics: the agent serves all metrics in dashboards and alerts.
func TestDeployedMetrics(t *testing.T) {
	served := map[string]bool{underscored(generationKey): true, "gctrail_agent": true}
	for i := range metrics {
		name := metrics[i].prometheusName()
		served[name] = true
		if metrics[i].kind == histogram {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				served[name+suffix] = true
			}
		}
	}
	texts := expressions(t)
	for _, path := range []string{"/prometheus/gctrail.rules.yml", "/prometheus/gctrail.test.yml"} {
		text, err := os.ReadFile(deploy + path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	seen := 0
	for where, text := range texts {
		for _, name := range metricName.FindAllString(text, -1) {
			seen++
			if !served[name] {
				t.Errorf("%s: the agent serves no %s", where, name)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d names", seen)
	}
}

// TestDeployedBuckets: the agent serves the buckets that alerts count.
func TestDeployedBuckets(t *testing.T) {
	text, err := os.ReadFile(deploy + "/prometheus/gctrail.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`le="([^"]*)"`).FindAllStringSubmatch(string(text), -1)
	for _, f := range found {
		bound, err := strconv.ParseFloat(f[1], 64)
		if err != nil || !math.IsInf(bound, 1) && !slices.Contains(bounds, bound) {
			t.Errorf("%s: the agent has the buckets %v", f[0], bounds)
		}
	}
	if len(found) < 2 {
		t.Errorf("%d buckets", len(found))
	}
}

// TestDeployedQueries: Prometheus accepts all queries, and the alerts pass their own
// test.
func TestDeployedQueries(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(promtool, args...)
		cmd.Dir = deploy + "/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
	run("check", "rules", "gctrail.rules.yml")
	run("test", "rules", "gctrail.test.yml")

	type rule struct{ Record, Expr string }
	type group struct {
		Name  string
		Rules []rule
	}
	g := group{Name: "dashboards"}
	for _, expr := range expressions(t) {
		g.Rules = append(g.Rules, rule{"x", expr})
	}
	text, err := yaml.Marshal(map[string][]group{"groups": {g}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run("check", "rules", "--lint=none", path)
}

// The manifests are YAML, and run the agent.
func TestManifests(t *testing.T) {
	paths, err := filepath.Glob(deploy + "/kubernetes/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		runs := false
		for d := yaml.NewDecoder(f); ; {
			var object map[string]any
			if err := d.Decode(&object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(path, err)
			}
			if object["apiVersion"] == nil || object["kind"] == nil || object["metadata"] == nil {
				t.Errorf("%s: no object of Kubernetes: %v", path, object)
			}
			pod, _ := object["spec"].(map[string]any)
			if template, is := pod["template"].(map[string]any); is {
				pod, _ = template["spec"].(map[string]any)
			}
			containers, _ := pod["containers"].([]any)
			for _, c := range containers {
				args, _ := c.(map[string]any)["args"].([]any)
				runs = runs || len(args) > 0 && args[0] == "agent"
			}
		}
		if !runs {
			t.Errorf("%s runs no agent", path)
		}
	}
}
