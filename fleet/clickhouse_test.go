package fleet

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A shard is a ClickHouse server of a test.
type shard struct {
	folder     string
	http, tcp  int
	interserve int
	process    *exec.Cmd
}

// servers starts ClickHouse servers that know each other as the shards of the
// cluster "shop", or skips the test.
func servers(t *testing.T, n int) []*shard {
	t.Helper()
	binary, err := exec.LookPath("clickhouse-server")
	if err != nil {
		if binary, err = exec.LookPath("/usr/sbin/clickhouse-server"); err != nil {
			t.Skip("clickhouse-server is not installed")
		}
	}
	var shards []*shard
	var cluster strings.Builder
	for range n {
		s := &shard{folder: t.TempDir(), http: freePort(t), tcp: freePort(t), interserve: freePort(t)}
		shards = append(shards, s)
		fmt.Fprintf(&cluster, "<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", s.tcp)
	}
	for _, s := range shards {
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("config.xml", fmt.Sprintf(`<yandex><logger><level>error</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>%d</http_port><tcp_port>%d</tcp_port><interserver_http_port>%d</interserver_http_port>
<path>%s/data/</path><tmp_path>%s/tmp/</tmp_path><users_config>users.xml</users_config><mark_cache_size>67108864</mark_cache_size>
<default_profile>default</default_profile><default_database>default</default_database>
<remote_servers><shop>%s</shop></remote_servers></yandex>`, s.http, s.tcp, s.interserve, s.folder, s.folder, cluster.String()))
		write("users.xml", `<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>`)
		s.start(t, binary)
	}
	return shards
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start starts the server and waits until it answers.
func (s *shard) start(t *testing.T, binary string) {
	t.Helper()
	s.process = exec.Command(binary, "--config-file", filepath.Join(s.folder, "config.xml"))
	s.process.Dir = s.folder
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.process.Process.Kill(); _ = s.process.Wait() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := s.client().Query(t.Context(), "SELECT 1"); err == nil {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(s.folder, "log"))
			t.Fatalf("clickhouse-server does not answer: %s", text)
		}
	}
}

func (s *shard) client() *ClickHouse {
	return &ClickHouse{URL: fmt.Sprintf("http://127.0.0.1:%d", s.http), Database: "default"}
}

// create makes the tables on all shards.
func create(t *testing.T, shards []*shard, schema Schema) *ClickHouse {
	t.Helper()
	for _, s := range shards {
		for _, statement := range schema.Statements() {
			if err := s.client().Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s\n%v", statement, err)
			}
		}
	}
	c := shards[0].client()
	c.Database = schema.Database
	return c
}

func TestClickHouse(t *testing.T) {
	shards := servers(t, 2)
	c := create(t, shards, Schema{Database: "gctrail", Cluster: "shop"})
	if err := c.CheckSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkStore(t, c)
	for _, s := range shards {
		one := s.client()
		one.Database = "gctrail"
		rows, err := one.Query(t.Context(), "SELECT count() FROM gc_local")
		if err != nil {
			t.Fatal(err)
		}
		if n := fmt.Sprint(rows.Rows[0][0]); n == "0" {
			t.Error("a shard has no rows")
		}
	}
}

func TestNoSchema(t *testing.T) {
	c := servers(t, 1)[0].client()
	if err := c.CheckSchema(t.Context()); !NoSchema(err) {
		t.Errorf("without tables: %v", err)
	}
	if err := (&ClickHouse{URL: "http://127.0.0.1:1"}).CheckSchema(context.Background()); err == nil || NoSchema(err) {
		t.Errorf("without a server: %v", err)
	}
}
