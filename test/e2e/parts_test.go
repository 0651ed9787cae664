package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A shard is a ClickHouse server.
type shard struct {
	*program
	address string
}

// startShards starts ClickHouse servers that are the shards of the cluster
// "shards", and creates gctrail's tables on them.
func startShards(t *testing.T, n int) []*shard {
	t.Helper()
	server := installed(t, "clickhouse-server")
	ports := make([][3]int, n)
	var cluster strings.Builder
	for i := range ports {
		ports[i] = [3]int{port(t), port(t), port(t)}
		fmt.Fprintf(&cluster, "<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", ports[i][1])
	}
	var shards []*shard
	for i, p := range ports {
		folder := t.TempDir()
		write(t, filepath.Join(folder, "config.xml"), fmt.Sprintf(`<yandex><logger><level>error</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>%d</http_port><tcp_port>%d</tcp_port><interserver_http_port>%d</interserver_http_port>
<path>%s/data/</path><tmp_path>%s/tmp/</tmp_path><users_config>users.xml</users_config><mark_cache_size>67108864</mark_cache_size>
<default_profile>default</default_profile><default_database>default</default_database>
<remote_servers><shards>%s</shards></remote_servers></yandex>`, p[0], p[1], p[2], folder, folder, cluster.String()))
		write(t, filepath.Join(folder, "users.xml"), `<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>`)
		s := &shard{address: fmt.Sprintf("http://127.0.0.1:%d", p[0]), program: &program{
			name: fmt.Sprintf("shard-%d", i), folder: folder, command: []string{server, "--config-file", filepath.Join(folder, "config.xml")},
		}}
		s.ready = answers(s.address)
		t.Cleanup(s.kill)
		s.start(t)
		shards = append(shards, s)
	}
	for _, s := range shards {
		args := []string{"fleet", "schema", "--apply", "--store", s.address + "/gctrail"}
		if n > 1 {
			args = append(args, "--cluster", "shards")
		}
		gctrailRun(t, args...)
	}
	return shards
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
