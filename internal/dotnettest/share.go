package dotnettest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A CPUShare is the folder of a cgroup that limits the processors of what is put into it.
type CPUShare string

// NewCPUShare makes a cgroup with a file of the controller for processors, of whichever
// version the machine has; the test is skipped where that is not allowed. Processes in it
// must end before the test does.
func NewCPUShare(t *testing.T, name, v1, v1Value, v2, v2Value string) CPUShare {
	t.Helper()
	for _, c := range [...]struct{ mount, file, value string }{{"/sys/fs/cgroup/cpu", v1, v1Value}, {"/sys/fs/cgroup", v2, v2Value}} {
		folder := filepath.Join(c.mount, fmt.Sprintf("gctrail-test-%d-%s", os.Getpid(), name))
		if os.Mkdir(folder, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		if os.WriteFile(filepath.Join(folder, c.file), []byte(c.value), 0o644) == nil {
			return CPUShare(folder)
		}
	}
	t.Skip("no cgroup for processors can be made here")
	return ""
}

// NewQuota makes a cgroup whose processes may use a fifth of a processor.
func NewQuota(t *testing.T) CPUShare {
	t.Helper()
	return NewCPUShare(t, "quota", "cpu.cfs_quota_us", "20000", "cpu.max", "20000 100000")
}

// Run returns the command line that runs a command in the cgroup.
func (s CPUShare) Run(command ...string) []string {
	return append([]string{"sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, string(s)}, command...)
}
