package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/hosttest"
)

// A server is a ClickHouse.
type server struct {
	*program
	address string
}

// startServer starts a ClickHouse and creates gctrail's tables on it.
func startServer(t *testing.T) *server {
	t.Helper()
	of := hosttest.NewClickHouse(t)
	s := &server{address: of.Address, program: &program{
		name: "clickhouse", folder: of.Folder, command: of.Command, ready: answers(of.Address),
	}}
	t.Cleanup(s.kill)
	s.start(t)
	gctrailRun(t, "fleet", "schema", "--apply", "--store", s.address+"/gctrail")
	return s
}

// startReceiver starts a receiver that stores at a place.
func startReceiver(t *testing.T, store string) (*program, string) {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", port(t))
	p := &program{
		name: "receiver", command: []string{binary(t), "fleet", "receive", "--store", store, "--listen", address, "--delay", "100ms"},
		ready: answers("http://" + address + "/healthz"),
	}
	return p.run(t), "http://" + address
}

// startCollector starts a Collector that passes logs on and acknowledges what was
// acknowledged to it.
func startCollector(t *testing.T, to string) (*program, string) {
	t.Helper()
	path, err := collector()
	if err != nil {
		t.Skipf("the Collector cannot be built: %v", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port(t))
	config := filepath.Join(t.TempDir(), "collector.yaml")
	write(t, config, fmt.Sprintf(`receivers:
  otlp:
    protocols:
      http:
        endpoint: %s
exporters:
  otlphttp:
    logs_endpoint: %s/v1/logs
    sending_queue:
      enabled: false
    retry_on_failure:
      enabled: false
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [otlphttp]
`, address, to))
	p := &program{name: "collector", command: []string{path, "--config", "file:" + config}, ready: answers("http://" + address)}
	return p.run(t), "http://" + address
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// used returns the time that the server has used processors for.
func (s *server) used(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.running.Process.Pid))
	if err != nil {
		t.Skip(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	var user, system int64 // in hundredths of a second
	if _, err := fmt.Sscan(strings.Join(strings.Fields(fields)[11:13], " "), &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
