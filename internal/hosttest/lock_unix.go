//go:build unix

package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// lock takes the lock of this user's session daemon until the test ends, before which
// cleanups that are added later run. The system releases it if the test is killed.
func lock(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(lockPath(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

func lockPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("gctrail-lttng-%d", os.Getuid()))
}
