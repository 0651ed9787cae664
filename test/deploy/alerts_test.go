package deploy

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A target is an agent that Prometheus scrapes: the metadata that Prometheus discovers,
// and the labels that the Prometheus Operator makes of it for a PodMonitor.
type target struct{ metadata, labels map[string]string }

func agentOn(node, address string) target {
	pod := "test-gctrail-" + node
	return target{
		metadata: map[string]string{"__meta_kubernetes_pod_name": pod, "__meta_kubernetes_pod_node_name": node},
		labels: map[string]string{
			"instance": address + ":9464", "job": "observability/test-gctrail", "endpoint": "gctrail",
			"namespace": "observability", "pod": pod, "container": "agent",
		},
	}
}

// An endpoint is how a rendered PodMonitor has an agent scraped.
type endpoint struct{ object }

// relabeled returns the labels of a target after the endpoint's own relabeling.
func (e endpoint) relabeled(t *testing.T, of target) map[string]string {
	t.Helper()
	labels := maps.Clone(of.labels)
	for i := 0; e.at("relabelings", i) != nil; i++ {
		var rule object = e.at("relabelings", i).(map[string]any)
		switch action := rule["action"]; action {
		case nil, "replace":
			labels[rule["targetLabel"].(string)] = of.metadata[rule.at("sourceLabels", 0).(string)]
		case "labeldrop":
			drop := regexp.MustCompile("^(?:" + rule["regex"].(string) + ")$")
			maps.DeleteFunc(labels, func(name, _ string) bool { return drop.MatchString(name) })
		default:
			t.Fatalf("action %v", action)
		}
	}
	return labels
}

// stored returns the labels that Prometheus stores of a series. See its scrape.go,
// mutateSampleLabels.
func (e endpoint) stored(t *testing.T, of target, scraped map[string]string) map[string]string {
	t.Helper()
	labels := maps.Clone(scraped)
	for name, value := range e.relabeled(t, of) {
		own, conflicts := labels[name]
		switch {
		case !conflicts:
			labels[name] = value
		case e.object["honorLabels"] != true:
			labels["exported_"+name], labels[name] = own, value
		}
	}
	return labels
}

// A program is one that an agent follows.
type program struct {
	by     target
	labels map[string]string
	sick   bool
}

// programs are one whose alerts are to fire, and others that are like it in everything but
// one respect.
func programs() []program {
	one, other := agentOn("n1", "10.0.0.1"), agentOn("n2", "10.0.0.2")
	like := func(changes ...string) map[string]string {
		labels := map[string]string{
			"pid": "100", "process": "web", "runtime": ".NET 10.0.1", "container": "0123456789ab",
			"namespace": "shop", "pod": "web-1", "container_name": "web",
		}
		for i := 0; i < len(changes); i += 2 {
			if labels[changes[i]] = changes[i+1]; changes[i+1] == "" {
				delete(labels, changes[i])
			}
		}
		return labels
	}
	return []program{
		{one, like(), true},
		{one, like("pid", "101"), false}, // a second process of the container
		{one, like("pid", "102", "container", "ba9876543210", "container_name", "cache"), false},
		{one, like("pid", "103", "container", "111111111111", "pod", "web-2"), false},
		{one, like("pid", "104", "container", "222222222222", "namespace", "test"), false},
		{one, like("pid", "105", "container", "", "namespace", "", "pod", "", "container_name", ""), false}, // of the node itself
		{other, like("pod", "web-3"), false},
	}
}

// A symptom is a state of a program that makes an alert fire.
type symptom struct {
	alert string
	// series maps a program's metrics, with their own labels, to their growth in a minute, or
	// if they do not grow, to their value.
	series func(sick bool) map[string]string
	grows  bool
	lasts  bool   // the series outlives the process, and has no pid and no container
	added  string // the labels of the series that the alert has too
}

func either(sick bool, yes, no int) string {
	return fmt.Sprint(map[bool]int{true: yes, false: no}[sick])
}

const pauseBucket = `dotnet_gc_pause_duration_seconds_bucket{dotnet_gc_heap_generation="gen2",gc_kind="blocking",gc_reason="AllocLarge",le="%s"}`

var symptoms = []symptom{
	{alert: "DotnetGCPausesTakeTime", grows: true, series: func(sick bool) map[string]string {
		return map[string]string{"dotnet_gc_pause_time_seconds_total": either(sick, 6, 1)}
	}},
	{alert: "DotnetGCPausesAreLong", grows: true, series: func(sick bool) map[string]string {
		return map[string]string{fmt.Sprintf(pauseBucket, "0.5"): either(sick, 90, 100), fmt.Sprintf(pauseBucket, "+Inf"): "100"}
	}},
	{alert: "DotnetHeapNearLimit", series: func(sick bool) map[string]string {
		return map[string]string{"dotnet_gc_last_collection_memory_committed_size_bytes": either(sick, 95, 356), "gctrail_gc_hard_limit_bytes": either(sick, 100, 1000)}
	}},
	{alert: "DotnetContainerNearLimit", series: func(sick bool) map[string]string {
		return map[string]string{"gctrail_cgroup_memory_used_bytes": either(sick, 95, 356), "gctrail_cgroup_memory_limit_bytes": either(sick, 100, 1000)}
	}},
	{alert: "GctrailEventsLost", grows: true, series: func(sick bool) map[string]string {
		return map[string]string{"gctrail_process_events_lost_total": either(sick, 3, 0)}
	}},
	{alert: "DotnetProcessKilled", grows: true, lasts: true, added: `cause="oom_killed",memory="native"`, series: func(sick bool) map[string]string {
		return map[string]string{`gctrail_process_ended_total{cause="oom_killed",memory="native"}`: either(sick, 1, 0)}
	}},
	{alert: "DotnetOutOfMemory", grows: true, lasts: true, added: `cause="out_of_memory",memory="heap"`, series: func(sick bool) map[string]string {
		return map[string]string{`gctrail_process_ended_total{cause="out_of_memory",memory="heap"}`: either(sick, 1, 0)}
	}},
}

// text writes a series with labels.
func text(series string, labels map[string]string) string {
	name, own, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	var pairs []string
	if own != "" {
		pairs = append(pairs, own)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, fmt.Sprintf("%s=%q", key, labels[key]))
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

// scenario returns promtool's test of an alert: the series as Prometheus stores them, and
// the labels with which the alert fires, which the program itself is served with.
func (s *symptom) scenario(t *testing.T, e endpoint) map[string]any {
	t.Helper()
	input := make(map[string]string)
	var firing string
	for _, p := range programs() {
		labels := maps.Clone(p.labels)
		if s.lasts {
			delete(labels, "pid")
			delete(labels, "container")
		}
		for series, value := range s.series(p.sick) {
			key := text(series, e.stored(t, p.by, labels))
			if _, both := input[key]; both && !p.sick {
				continue // of the sick program, which shares it
			}
			if s.grows {
				input[key] = "0+" + value + "x60"
			} else {
				input[key] = value + "x60"
			}
		}
		if p.sick {
			maps.Copy(labels, map[string]string{
				"alertname": s.alert, "alertstate": "firing", "instance": p.by.labels["instance"], "job": p.by.labels["job"],
				"endpoint": "gctrail", "agent_pod": p.by.labels["pod"], "node": p.by.metadata["__meta_kubernetes_pod_node_name"],
			})
			firing = text("ALERTS{"+s.added+"}", labels)
		}
	}
	var series []map[string]string
	for _, key := range slices.Sorted(maps.Keys(input)) {
		series = append(series, map[string]string{"series": key, "values": input[key]})
	}
	return test(series, fmt.Sprintf("sum without (severity) (ALERTS{alertname=%q,alertstate=\"firing\"})", s.alert), strings.TrimPrefix(firing, "ALERTS"))
}

func test(series []map[string]string, expr, labels string) map[string]any {
	return map[string]any{
		"interval": "1m", "input_series": series,
		"promql_expr_test": []map[string]any{{"expr": expr, "eval_time": "40m", "exp_samples": []map[string]any{{"labels": labels, "value": 1}}}},
	}
}

// unreachable is the scenario of the alert that is about an agent.
func unreachable(t *testing.T, e endpoint) map[string]any {
	t.Helper()
	var series []map[string]string
	var firing string
	for node, address := range map[string]string{"n1": "10.0.0.1", "n2": "10.0.0.2"} {
		labels := e.stored(t, agentOn(node, address), make(map[string]string))
		value := "0x60"
		if node == "n2" {
			value = "2x60"
			firing = text(`{alertname="GctrailCannotFollow",alertstate="firing",state="unreachable"}`, labels)
		}
		series = append(series, map[string]string{"series": text(`gctrail_agent_processes{state="unreachable"}`, labels), "values": value})
	}
	return test(series, `sum without (severity) (ALERTS{alertname="GctrailCannotFollow",alertstate="firing"})`, firing)
}

// promtool runs tests of the rules of a PrometheusRule.
func promtool(t *testing.T, rules object, tests []map[string]any) ([]byte, error) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	folder := t.TempDir()
	for name, content := range map[string]any{
		"rules.yml": map[string]any(rules),
		"test.yml":  map[string]any{"rule_files": []string{"rules.yml"}, "evaluation_interval": "1m", "tests": tests},
	} {
		b, err := yaml.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "test", "rules", "test.yml")
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

// TestAlerts checks with the labels of the Prometheus Operator that each alert of the
// chart fires on the process that is meant, and on no other.
func TestAlerts(t *testing.T) {
	objects := render(t, load(t, chartPath), everything)
	var rules object = objects["PrometheusRule test-gctrail"].at("spec").(map[string]any)
	scraped := endpoint{objects["PodMonitor test-gctrail"].at("spec", "podMetricsEndpoints", 0).(map[string]any)}
	tested := []string{"GctrailCannotFollow"}
	for i := range symptoms {
		tested = append(tested, symptoms[i].alert)
		t.Run(symptoms[i].alert, func(t *testing.T) {
			if out, err := promtool(t, rules, []map[string]any{symptoms[i].scenario(t, scraped)}); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	t.Run("GctrailCannotFollow", func(t *testing.T) {
		if out, err := promtool(t, rules, []map[string]any{unreachable(t, scraped)}); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	for i := 0; rules.at("groups", 0, "rules", i) != nil; i++ {
		if name := rules.at("groups", 0, "rules", i).(map[string]any)["alert"]; !slices.Contains(tested, name.(string)) {
			t.Errorf("alert %v is not tested", name)
		}
	}
}

// TestAlertsNeedLabels checks that the scenarios fail if the agent's own labels hide the
// programs' ones, so that TestAlerts can fail.
func TestAlertsNeedLabels(t *testing.T) {
	objects := render(t, load(t, chartPath), everything)
	hidden := endpoint{maps.Clone(objects["PodMonitor test-gctrail"].at("spec", "podMetricsEndpoints", 0).(map[string]any))}
	delete(hidden.object, "honorLabels")
	delete(hidden.object, "relabelings")
	for i := range symptoms {
		if _, err := promtool(t, objects["PrometheusRule test-gctrail"].at("spec").(map[string]any), []map[string]any{symptoms[i].scenario(t, hidden)}); err == nil {
			t.Errorf("%s fires on the process that is meant", symptoms[i].alert)
		}
	}
}
