package e2e

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// startPrometheus3 starts a Prometheus that takes OTLP and scrapes nothing.
func startPrometheus3(t *testing.T) string {
	t.Helper()
	server, err := prometheus3()
	if err != nil {
		t.Skipf("Prometheus 3 cannot be built: %v", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port(t))
	folder := t.TempDir()
	write(t, filepath.Join(folder, "prometheus.yml"), "otlp: {promote_resource_attributes: [process.executable.name]}\n")
	p := &program{name: "prometheus3", ready: answers("http://" + address + "/-/ready"), command: []string{
		server, "--config.file", filepath.Join(folder, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(folder, "data"),
		"--web.listen-address", address, "--web.enable-otlp-receiver",
	}}
	p.run(t)
	return "http://" + address
}

// TestPush has an agent send metrics by OTLP to a Prometheus 3, and compares what it
// answers with what the runtime itself counted. Exponential histograms are native
// ones there.
func TestPush(t *testing.T) {
	prometheus := startPrometheus3(t)
	file := dotnettest.Install(t, 10)
	name := filepath.Base(file)
	store := t.TempDir()
	_, receiver := startReceiver(t, store)
	startAgent(t, name, receiver, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+prometheus+"/api/v1/otlp/v1/metrics", "OTEL_METRIC_EXPORT_INTERVAL=1000")
	program := dotnettest.StartFile(t, file, "web", number(t, "GCTRAIL_E2E_SECONDS", 20), "OTEL_SERVICE_NAME=shop")
	totals := program.Totals()
	tolerance := toleranceOf(program, totals) / totals.PauseMS

	const shop = `{job="shop"}`
	eventually(t, "Prometheus has other counts", func() bool {
		return ask(t, prometheus, "sum(dotnet_gc_collections_total"+shop+")") == float64(totals.Collections)
	})
	if got := ask(t, prometheus, "sum(dotnet_gc_collections_total"+shop+")"); got != float64(totals.Collections) {
		t.Errorf("%v collections, the runtime counted %d", got, totals.Collections)
	}
	for query, want := range map[string]float64{
		"1000 * sum(dotnet_gc_pause_time_seconds_total" + shop + ")":                      totals.PauseMS,
		"1000 * histogram_sum(sum(dotnet_gc_pause_duration_seconds" + shop + "))":         totals.PauseMS,
		`sum(dotnet_gc_pause_time_seconds_total{process_executable_name="` + name + `"})`: totals.PauseMS / 1000,
	} {
		if got := ask(t, prometheus, query); !(math.Abs(got-want) <= tolerance*want) {
			t.Errorf("%s is %v, the runtime counted %v", query, got, want)
		}
	}
	eventually(t, "records are missing", func() bool {
		all, _ := numbers(t, store, name)
		return len(all) == totals.Collections
	})
	_, pauses := numbers(t, store, name)
	for _, q := range []float64{0.5, 0.99} {
		exact := pauses[int(math.Ceil(q*float64(len(pauses))))-1] / 1000
		got := ask(t, prometheus, fmt.Sprintf("histogram_quantile(%v, sum(dotnet_gc_pause_duration_seconds%s))", q, shop))
		t.Logf("p%v: %.6f s by Prometheus, %.6f s by the records", 100*q, got, exact)
		if !(got >= exact/1.2 && got <= exact*1.2) { // a bucket is 9 % wide
			t.Errorf("p%v is %v s, by the records %v s", 100*q, got, exact)
		}
	}
}
