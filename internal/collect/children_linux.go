package collect

import (
	"bytes"
	"os"
	"strconv"
)

// children returns the processes that inherited a port, as far as the system shows them.
func children(port string) []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && bytes.Contains(env, []byte(portVariable+"="+port+",")) {
			pids = append(pids, pid)
		}
	}
	return pids
}
