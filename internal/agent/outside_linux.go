package agent

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	containerID = regexp.MustCompile(`[0-9a-f]{64}`)
	podUID      = regexp.MustCompile(`pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})`)
)

// maxFile bounds what is read of a file that a process has a say in.
const maxFile = 1 << 20

// wantedVariables are those of a process's environment that are read.
var wantedVariables = []string{
	"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "KUBERNETES_SERVICE_HOST", "HOSTNAME",
	"POD_NAME", "POD_NAMESPACE", "CONTAINER_NAME", "NODE_NAME",
	"DOTNET_GCHeapHardLimit", "DOTNET_GCHeapHardLimitPercent",
}

// lookInto reads what /proc shows of a process.
func lookInto(pid int) outside {
	o := outside{environment: make(map[string]string)}
	if pid == 0 {
		return o
	}
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	cgroup := readSome(filepath.Join(folder, "cgroup"))
	o.container = string(containerID.Find(cgroup))
	if uid := podUID.FindSubmatch(cgroup); uid != nil {
		o.pod = strings.ReplaceAll(string(uid[1]), "_", "-")
		o.namespace = serviceAccountNamespace(folder)
	}
	for pair := range bytes.SplitSeq(readSome(filepath.Join(folder, "environ")), []byte{0}) {
		name, value, _ := strings.Cut(string(pair), "=")
		for _, wanted := range wantedVariables {
			if name == wanted {
				o.environment[name] = value
			}
		}
	}
	return o
}

// serviceAccountNamespace returns the namespace that Kubernetes mounts into a
// process's container. Links in there cannot lead out of it.
func serviceAccountNamespace(folder string) string {
	root, err := unix.Open(filepath.Join(folder, "root"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(root)
	const path = "var/run/secrets/kubernetes.io/serviceaccount/namespace"
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, _ := io.ReadAll(io.LimitReader(f, maxValue))
	return strings.TrimSpace(string(b))
}

// readSome returns the beginning of a file, as far as it can be read.
func readSome(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxFile))
	return b
}
