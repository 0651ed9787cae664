package fleet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/clickhousetest"
)

// A shard is a ClickHouse server of a test.
type shard struct {
	*clickhousetest.Server
	process *exec.Cmd
}

// servers starts ClickHouse servers that know each other as the shards of the
// cluster "shop", or skips the test.
func servers(t *testing.T, n int) []*shard {
	t.Helper()
	var shards []*shard
	for _, server := range clickhousetest.Servers(t, n, "shop") {
		s := &shard{Server: server}
		s.start(t)
		shards = append(shards, s)
	}
	return shards
}

// start starts the server and waits until it answers.
func (s *shard) start(t *testing.T) {
	t.Helper()
	s.process = exec.Command(s.Command[0], s.Command[1:]...)
	s.process.Dir = s.Folder
	log, err := os.Create(filepath.Join(s.Folder, "log"))
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
			text, _ := os.ReadFile(filepath.Join(s.Folder, "log"))
			t.Fatalf("clickhouse-server does not answer: %s", text)
		}
	}
}

func (s *shard) client() *ClickHouse {
	return &ClickHouse{URL: s.Address, Database: "default"}
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
