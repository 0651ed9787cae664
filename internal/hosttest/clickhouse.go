package hosttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Cluster is the cluster that consists of one ClickHouse.
const Cluster = "gctrail"

// A ClickHouse is a server that has not been started: the engine of ClickHouse, npm's chdb,
// behind an HTTP interface, because a package of a current server is not available everywhere.
type ClickHouse struct {
	Folder  string // of its data
	Address string // URL of its HTTP interface
	Command []string
}

// NewClickHouse configures a server, or skips the test if the engine is not installed. The
// server can make replicated tables, but not fill them.
func NewClickHouse(t testing.TB) *ClickHouse {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	program := script(t)
	if _, err := os.Stat(filepath.Join(filepath.Dir(program), "node_modules", "chdb")); err != nil {
		t.Skip("chdb is not installed: npm ci --ignore-scripts in test/e2e/views")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	folder := t.TempDir()
	return &ClickHouse{folder, fmt.Sprintf("http://127.0.0.1:%d", port), []string{node, program, folder, fmt.Sprint(port)}}
}

// script returns the path of the server's program, from a test of any package.
func script(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(at, "test", "e2e", "views", "serve.mjs")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if filepath.Dir(at) == at {
			t.Fatal("test/e2e/views/serve.mjs is not above the working folder")
		}
		at = filepath.Dir(at)
	}
}
