// Package clickhousetest configures ClickHouse servers for tests, which start them.
package clickhousetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Server is a ClickHouse server that has not been started.
type Server struct {
	Folder  string // of its configuration and data
	Address string // URL of its HTTP interface
	Command []string
}

// Servers configures servers that know each other as the shards of a cluster, or skips
// the test if there is no ClickHouse.
func Servers(t testing.TB, n int, cluster string) []*Server {
	t.Helper()
	binary, err := exec.LookPath("clickhouse-server")
	if err != nil {
		if binary, err = exec.LookPath("/usr/sbin/clickhouse-server"); err != nil {
			t.Skip("clickhouse-server is not installed")
		}
	}
	type ports struct{ http, tcp, interserver int }
	all := make([]ports, n)
	var shards strings.Builder
	for i := range all {
		all[i] = ports{port(t), port(t), port(t)}
		fmt.Fprintf(&shards, "<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", all[i].tcp)
	}
	var servers []*Server
	for _, p := range all {
		folder := t.TempDir()
		config := filepath.Join(folder, "config.xml")
		write(t, config, fmt.Sprintf(`<yandex><logger><level>error</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>%d</http_port><tcp_port>%d</tcp_port><interserver_http_port>%d</interserver_http_port>
<path>%s/data/</path><tmp_path>%s/tmp/</tmp_path><users_config>users.xml</users_config><mark_cache_size>67108864</mark_cache_size>
<default_profile>default</default_profile><default_database>default</default_database>
<remote_servers><%s>%s</%[6]s></remote_servers></yandex>`, p.http, p.tcp, p.interserver, folder, folder, cluster, shards.String()))
		write(t, filepath.Join(folder, "users.xml"), `<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>`)
		servers = append(servers, &Server{folder, fmt.Sprintf("http://127.0.0.1:%d", p.http), []string{binary, "--config-file", config}})
	}
	return servers
}

func port(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
