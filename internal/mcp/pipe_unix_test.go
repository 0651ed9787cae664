//go:build unix

package mcp

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe: a named pipe is refused, because opening one waits for its writer. The folder
// that it is in has other files.
func TestPipe(t *testing.T) {
	dir := folder(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.nettrace"), 0o600); err != nil {
		t.Skip(err)
	}
	client := connect(t, Options{Root: dir}, echo)
	if got, failed := call(t, client, "triage", map[string]any{"file": "pipe.nettrace"}); !failed {
		t.Error(got)
	}
	if got, failed := call(t, client, "compare", map[string]any{"before": []string{"."}, "after": []string{"a.nettrace"}}); failed {
		t.Error(got)
	}
}
