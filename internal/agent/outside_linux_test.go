package agent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
)

// TestOutside reads about a program with a runtimeconfig.json next to it.
func TestOutside(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "web")
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("a program that waits: ", err)
	}
	for path, text := range map[string][]byte{program: read(t, cat), program + ".runtimeconfig.json": []byte(`{
  "runtimeOptions": {"tfm": "net10.0", "configProperties": {"System.GC.HeapHardLimit": 123456789, "System.GC.Concurrent": false}}
}`)} {
		if err := os.WriteFile(path, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program)
	cmd.Env = []string{"OTEL_SERVICE_NAME=shop", "SECRET=1"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	if _, err := io.WriteString(in, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it runs
		t.Fatal(err)
	}
	o := lookInto(cmd.Process.Pid)
	if o.environment["OTEL_SERVICE_NAME"] != "shop" || len(o.environment) != 1 {
		t.Errorf("environment %v", o.environment)
	}
	l := heapLimitOf(&o)
	if got := l.in(gc.Opt[int64]{}).Or(0); got != 123456789 {
		t.Errorf("hard limit %d, properties %v", got, o.properties)
	}
}

// TestNamespaceOf reads the namespace from a container's own files, although the folder
// is behind a link with an absolute target, and nothing from outside.
func TestNamespaceOf(t *testing.T) {
	folder := t.TempDir()
	secrets := filepath.Join(folder, "root", "run", "secrets", "kubernetes.io", "serviceaccount")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(secrets, "..data"), 0o700), os.MkdirAll(filepath.Join(folder, "root", "var"), 0o700),
		os.Symlink("/run", filepath.Join(folder, "root", "var", "run")),
		os.WriteFile(filepath.Join(secrets, "..data", "namespace"), []byte("shop\n"), 0o600),
		os.Symlink("..data/namespace", filepath.Join(secrets, "namespace")),
		os.WriteFile(filepath.Join(folder, "outside"), []byte("secret"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := namespaceOf(folder); got != "shop" {
		t.Errorf("namespace %q", got)
	}
	link := filepath.Join(secrets, "namespace")
	for _, target := range []string{filepath.Join(folder, "outside"), strings.Repeat("../", 20) + filepath.Join(folder, "outside")[1:]} {
		if err := errors.Join(os.Remove(link), os.Symlink(target, link)); err != nil {
			t.Fatal(err)
		}
		if got := namespaceOf(folder); got != "" {
			t.Errorf("namespace %q from outside of the root", got)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
