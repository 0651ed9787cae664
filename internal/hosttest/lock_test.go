//go:build unix

package hosttest

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestLock: nobody else gets the lock before the test that has it ends.
func TestLock(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	try := func() error {
		f, err := os.OpenFile(lockPath(), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	t.Run("has it", func(t *testing.T) {
		lock(t)
		if err := try(); !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Error(err)
		}
	})
	if err := try(); err != nil {
		t.Error(err)
	}
}
