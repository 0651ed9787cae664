package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

const profilesPath = root + "/deploy/profiles"

// readYAML returns a file's content.
func readYAML(t *testing.T, path string) (text string, content object) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := yaml.Unmarshal(b, &m); err != nil {
		t.Fatal(path, err)
	}
	return string(b), m
}

// TestProfileValues: with the values of each file, Kubernetes accepts the chart's objects, and
// the agent reads where it sends profiles.
func TestProfileValues(t *testing.T) {
	binary := os.Getenv("GCTRAIL_BINARY")
	if binary == "" {
		t.Skip("GCTRAIL_BINARY names no program that could read its configuration")
	}
	for _, file := range []string{"pyroscope.values.yaml", "collector.values.yaml"} {
		values, content := readYAML(t, filepath.Join(profilesPath, file))
		objects := render(t, load(t, chartPath), values)
		for _, o := range objects {
			checkObject(t, o)
		}
		config, _ := objects["ConfigMap test-gctrail"].at("data", "agent.yaml").(string)
		path := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(binary, "agent", "--config", path, "--print-config").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, out)
		}
		var m map[string]any
		if err := yaml.Unmarshal(out, &m); err != nil {
			t.Fatal(err)
		}
		read := object(m)
		url := content.at("config", "profiles", "url")
		if got := read.at("profiles", "url"); url == nil || got != url || read.at("profiles", "interval") != "15s" {
			t.Errorf("%s: the agent sends to %v, want %v", file, got, url)
		}
	}
}

// TestProfileWiring: Grafana asks the server, and the tenant, that the agents send to, and the
// Collector listens at the port.
func TestProfileWiring(t *testing.T) {
	_, values := readYAML(t, profilesPath+"/pyroscope.values.yaml")
	_, grafana := readYAML(t, profilesPath+"/grafana.yaml")
	source := object(grafana.at("datasources", 0).(map[string]any))
	if got, want := source.at("url"), values.at("config", "profiles", "url"); got != want {
		t.Errorf("Grafana asks %v, agents send to %v", got, want)
	}
	tenant := values.at("config", "profiles", "headers", fmt.Sprint(source.at("jsonData", "httpHeaderName1")))
	if got := source.at("secureJsonData", "httpHeaderValue1"); tenant == nil || got != tenant {
		t.Errorf("Grafana asks for tenant %v, agents send for %v", got, tenant)
	}
	_, collector := readYAML(t, profilesPath+"/collector.yaml")
	_, values = readYAML(t, profilesPath+"/collector.values.yaml")
	if listens, sends := collector.at("receivers", "otlp", "protocols", "http", "endpoint"), values.at("config", "profiles", "url"); listens != "0.0.0.0:4318" || sends != "otlp+http://collector.observability:4318" {
		t.Errorf("the Collector listens at %v, agents send to %v", listens, sends)
	}
}
