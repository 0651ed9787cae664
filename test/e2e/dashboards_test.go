package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// empty are the panels without data here, because no program runs in a container, has a limit,
// or is killed.
var empty = regexp.MustCompile(`gctrail_cgroup_memory_limit_bytes|gctrail_gc_hard_limit_bytes|gctrail_process_ended_total.*> 0`)

// A dashboard holds the fields of a dashboard that Grafana reads.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

// get decodes an answer of Prometheus.
func get(t *testing.T, address string, answer any) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		t.Fatalf("%s: %s: %v", address, resp.Status, err)
	}
}

// matrix returns the series of a query over the last half minute, as a panel shows them.
func matrix(t *testing.T, prometheus, query string) []json.RawMessage {
	t.Helper()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	get(t, fmt.Sprintf("%s/api/v1/query_range?query=%s&start=%s&end=%s&step=1", prometheus, url.QueryEscape(query), ago(t, prometheus, 30), ago(t, prometheus, 0)), &answer)
	if answer.Status != "success" {
		t.Errorf("%s: %s", query, answer.Error)
	}
	return answer.Data.Result
}

// ago is a time of Prometheus' clock, some seconds before now.
func ago(t *testing.T, prometheus string, seconds int) string {
	t.Helper()
	return fmt.Sprintf("%.3f", ask(t, prometheus, fmt.Sprintf("vector(time() - %d)", seconds)))
}

// labelValues returns the values of a label that Grafana's label_values asks for.
func labelValues(t *testing.T, prometheus, query string) []string {
	t.Helper()
	call := regexp.MustCompile(`^label_values\((.*), *(\w+)\)$`).FindStringSubmatch(query)
	if call == nil {
		t.Fatalf("%s does not list values", query)
	}
	var answer struct{ Data []string }
	get(t, prometheus+"/api/v1/label/"+call[2]+"/values?match[]="+url.QueryEscape(call[1]), &answer)
	return answer.Data
}

// TestDashboards has a Prometheus that scrapes an agent answer all queries of the
// dashboards, with the values of their variables, and evaluate the alerts.
func TestDashboards(t *testing.T) {
	paths, err := filepath.Glob("../../deploy/grafana/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	rules, err := filepath.Abs("../../deploy/prometheus/gctrail.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	file := dotnettest.Install(t, 10)
	name := filepath.Base(file)
	_, agent := startAgent(t, name, "http://127.0.0.1:9")
	prometheus := startPrometheus(t, agent, rules)
	dotnettest.StartFile(t, file, "induced", 600) // so that there is a finding
	eventually(t, "Prometheus has no rate of pauses, or no finding", func() bool {
		return ask(t, prometheus, `sum(rate(dotnet_gc_pause_time_seconds_total[10s]))`) > 0 && ask(t, prometheus, `sum(gctrail_gc_finding)`) > 0
	})

	asked := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(path, err)
		}
		values := []string{"$__rate_interval", "10s"}
		for _, v := range d.Templating.List {
			if v.Type != "query" {
				continue
			}
			found := labelValues(t, prometheus, strings.NewReplacer(values...).Replace(v.Query))
			if v.Name == "namespace" { // there is no Kubernetes here
				values = append(values, "$namespace", ".*")
				continue
			}
			if len(found) != 1 {
				t.Errorf("%s: %s lists %q", path, v.Query, found)
			}
			// As Grafana does, which escapes for the regular expression and the string.
			values = append(values, "$"+v.Name, strings.ReplaceAll(regexp.QuoteMeta(strings.Join(found, "|")), `\`, `\\`))
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				query := strings.NewReplacer(values...).Replace(target.Expr)
				series := matrix(t, prometheus, query)
				asked++
				if len(series) == 0 && !empty.MatchString(query) {
					t.Errorf("%s, %s: no data: %s", filepath.Base(path), p.Title, query)
				}
			}
		}
	}
	if asked < 20 {
		t.Errorf("%d queries", asked)
	}

	eventually(t, "alerts are not evaluated", func() bool { return len(alerts(t, prometheus)) >= 7 })
	for name, health := range alerts(t, prometheus) {
		if health != "ok" {
			t.Errorf("alert %s: %s", name, health)
		}
	}
	t.Logf("%d queries, %d alerts", asked, len(alerts(t, prometheus)))
}

// alerts returns the health of the alerts that were evaluated.
func alerts(t *testing.T, prometheus string) map[string]string {
	t.Helper()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	get(t, prometheus+"/api/v1/rules", &answer)
	all := make(map[string]string)
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			if r.Health != "unknown" {
				all[r.Name] = strings.TrimSpace(r.Health + " " + r.LastError)
			}
		}
	}
	return all
}
