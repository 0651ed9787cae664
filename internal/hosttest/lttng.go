package hosttest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// LTTng starts LTTng's session daemon, of which a user has one, until the test ends. Tests of
// other packages wait for that meanwhile, because go test runs packages side by side, and they
// would see each other's sessions, and end the daemon of each other. It skips the test if there
// is no daemon.
func LTTng(t *testing.T) {
	t.Helper()
	lock(t)
	Start(t, "lttng-sessiond", "--no-kernel")
	limit := time.Now().Add(20 * time.Second)
	for {
		out, err := exec.Command("lttng", "list").CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			t.Skipf("the session daemon does not answer: %v %s", err, out)
		}
		time.Sleep(50 * time.Millisecond)
	}
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
