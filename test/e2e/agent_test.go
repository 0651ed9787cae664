package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// startAgent starts an agent that sends the records of one program to a receiver, with
// more variables in its environment.
func startAgent(t *testing.T, name, receiver string, env ...string) (*program, string) {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", port(t))
	p := &program{
		name: "agent", command: []string{binary(t), "agent", "--listen", address, "--name", name},
		env:   append(env, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT="+receiver+"/v1/logs"),
		ready: answers("http://" + address + "/healthz"),
	}
	return p.run(t), address
}

// startPrometheus starts a Prometheus that scrapes an address every second, and
// evaluates the rules of files.
func startPrometheus(t *testing.T, target string, rules ...string) string {
	t.Helper()
	server := installed(t, "prometheus")
	address := fmt.Sprintf("127.0.0.1:%d", port(t))
	folder := t.TempDir()
	write(t, filepath.Join(folder, "prometheus.yml"), fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
scrape_configs: [{job_name: agent, static_configs: [{targets: ['%s']}]}]
rule_files: [%s]
`, target, strings.Join(rules, ", ")))
	p := &program{name: "prometheus", ready: answers("http://" + address + "/-/ready"), command: []string{
		server, "--config.file", filepath.Join(folder, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(folder, "data"), "--web.listen-address", address,
	}}
	p.run(t)
	return "http://" + address
}

// ask returns the value of a query with one result.
func ask(t *testing.T, prometheus, query string) float64 {
	t.Helper()
	resp, err := http.Get(prometheus + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Data.Result) != 1 {
		return math.NaN()
	}
	value, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// numbers lists the numbers of a program's collections in a store, and their pauses
// in milliseconds: a background collection has two, which histograms count as such.
func numbers(t *testing.T, store, name string) (all []int, pauses []float64) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(store, "gc")); err != nil {
		return nil, nil
	}
	out := gctrailRun(t, "fleet", "gcs", "--store", store, "--where", "process="+name, "--top", "0", "--format", "jsonl", "--columns", "number,pause_ms,longest_pause_ms,pauses")
	for line := range strings.Lines(out) {
		var row struct {
			Number  int
			Pause   float64 `json:"pause_ms"`
			Longest float64 `json:"longest_pause_ms"`
			Pauses  int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row.Number)
		for i := range row.Pauses {
			pause := row.Longest
			if i > 0 {
				pause = (row.Pause - row.Longest) / float64(row.Pauses-1)
			}
			pauses = append(pauses, pause)
		}
	}
	slices.Sort(all)
	slices.Sort(pauses)
	return all, pauses
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), dotnettest.Patience)
	defer cancel()
	if !dotnettest.Poll(ctx, holds) {
		t.Errorf("after %v: %s", dotnettest.Patience, what)
	}
}

// TestCounters follows a program of each version of .NET, and compares what
// Prometheus has of the agent, and the store of its records, with what the runtime
// itself counted.
func TestCounters(t *testing.T) {
	seconds := number(t, "GCTRAIL_E2E_SECONDS", 20)
	for _, version := range dotnettest.Due(t) {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			file := dotnettest.Install(t, version)
			name := filepath.Base(file)
			store := t.TempDir()
			_, receiver := startReceiver(t, store)
			_, agent := startAgent(t, name, receiver)
			prometheus := startPrometheus(t, agent)
			program := dotnettest.StartFile(t, file, "web", seconds)
			totals := program.Totals()

			label := fmt.Sprintf(`{process=%q}`, name)
			eventually(t, "Prometheus has other counts", func() bool {
				return ask(t, prometheus, "sum(dotnet_gc_collections_total"+label+")") == float64(totals.Collections)
			})
			if got := ask(t, prometheus, "sum(dotnet_gc_collections_total"+label+")"); got != float64(totals.Collections) {
				t.Errorf("Prometheus: %v collections, the runtime counted %d", got, totals.Collections)
			}
			pause := 1000 * ask(t, prometheus, "sum(dotnet_gc_pause_time_seconds_total"+label+")")
			tolerance := toleranceOf(program, totals)
			if math.Abs(pause-totals.PauseMS) > tolerance {
				t.Errorf("Prometheus: %.3f ms of pause, the runtime counted %.3f", pause, totals.PauseMS)
			}
			eventually(t, "records are missing", func() bool {
				all, _ := numbers(t, store, name)
				return len(all) == totals.Collections
			})
			all, pauses := numbers(t, store, name)
			if len(all) != totals.Collections || all[0] != 1 || all[len(all)-1] != totals.Collections {
				t.Errorf("%d records, from %d to %d, want %d", len(all), all[0], all[len(all)-1], totals.Collections)
			}
			sum := 0.0
			for _, p := range pauses {
				sum += p
			}
			if math.Abs(sum-totals.PauseMS) > tolerance {
				t.Errorf("records: %.3f ms of pause, the runtime counted %.3f", sum, totals.PauseMS)
			}
			checkQuantile(t, prometheus, label, pauses)
			t.Logf("%d collections, %.3f ms of pause; Prometheus %.3f ms, records %.3f ms", totals.Collections, totals.PauseMS, pause, sum)
		})
	}
}

// toleranceOf returns by how many milliseconds the sum of the pauses may differ from what
// the runtime counted: on a busy machine, events come late by what its threads wait for
// a processor.
func toleranceOf(program *dotnettest.Program, totals dotnettest.Totals) float64 {
	return 0.02*totals.PauseMS + float64(program.Waited())/1e6
}

// bucket returns the position of the agent's classic bucket of a pause in seconds.
func bucket(s float64) int {
	return slices.IndexFunc(openmetrics.PauseBounds(), func(bound float64) bool { return s <= bound })
}

// checkQuantile expects Prometheus' estimate of a percentile within one bucket of
// it.
func checkQuantile(t *testing.T, prometheus, label string, pauses []float64) {
	t.Helper()
	exact := pauses[int(math.Ceil(0.99*float64(len(pauses))))-1] / 1000
	estimate := ask(t, prometheus, "histogram_quantile(0.99, sum by (le) (dotnet_gc_pause_duration_seconds_bucket"+label+"))")
	if off := bucket(estimate) - bucket(exact); off < -1 || off > 1 || math.IsNaN(estimate) {
		t.Errorf("p99 %.6f s by Prometheus, %.6f s by the records", estimate, exact)
	}
}

// TestAgentKilled kills the agent and starts it again: what it had sent is there
// once, what came while it was gone is missing, and nothing else.
func TestAgentKilled(t *testing.T) {
	file := dotnettest.Install(t, 10)
	name := filepath.Base(file)
	store := t.TempDir()
	_, receiver := startReceiver(t, store)
	agent, _ := startAgent(t, name, receiver)
	program := dotnettest.StartFile(t, file, "web", 20, dotnettest.Often)
	eventually(t, "no records", func() bool {
		some, _ := numbers(t, store, name)
		return len(some) > 0
	})
	agent.kill()
	before, _ := numbers(t, store, name)
	gone := len(program.Truth())
	eventually(t, "the program does not collect while the agent is gone", func() bool { return len(program.Truth()) > gone+10 })
	agent.start(t)
	totals := program.Totals()
	eventually(t, "the last records are missing", func() bool {
		all, _ := numbers(t, store, name)
		return len(all) > 0 && all[len(all)-1] == totals.Collections
	})
	all, _ := numbers(t, store, name)
	gaps := 0
	follows := true // the one before follows another without a gap
	for i := 1; i < len(all); i++ {
		previous := follows
		follows = all[i] == all[i-1]+1
		switch {
		case all[i] == all[i-1]:
			t.Errorf("collection %d is there twice", all[i])
		case !follows && previous: // else others began and ended in a background collection before the agent came back
			gaps++
		}
	}
	t.Logf("%d of %d collections, %d of them before the agent was killed", len(all), totals.Collections, len(before))
	if len(before) == 0 || len(all) <= len(before) || gaps > 1 {
		t.Errorf("%d records before, %d in all, %d gaps", len(before), len(all), gaps)
	}
}
