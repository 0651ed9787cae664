package hosttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// LTTng starts LTTng's session daemon, of which a user has one, until the test ends. Tests of
// other packages wait for that meanwhile, because go test runs packages side by side, and they
// would see each other's sessions, and end the daemon of each other. It skips the test if there
// is no daemon.
func LTTng(t *testing.T) {
	t.Helper()
	lock(t)
	Start(t, "lttng-sessiond", "--no-kernel")
	if err := Repeated(t, "lttng", "list"); err != nil {
		t.Skip("the session daemon does not answer: ", err)
	}
}

// Repeated runs a command until it succeeds, for 20 seconds at most, because daemons take a while
// to start. It returns the last error, with the command's output.
func Repeated(t *testing.T, name string, args ...string) (err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	dotnettest.Poll(ctx, func() bool {
		var out []byte
		if out, err = exec.Command(name, args...).CombinedOutput(); err != nil {
			err = fmt.Errorf("%s %q: %w %s", name, args, err, out)
		}
		return err == nil
	})
	return err
}

// Start starts a daemon that ends with the test. It skips the test if the daemon does not start.
func Start(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Skip(name, " does not run: ", err)
	}
	t.Cleanup(func() { // one that has found another running has ended by itself
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
}
