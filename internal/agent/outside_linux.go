package agent

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/internal/proc"
)

var (
	containerID = regexp.MustCompile(`[0-9a-f]{64}`)
	podUID      = regexp.MustCompile(`pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})`)
)

// maxFile bounds reads of a file, because a process may control its size.
const maxFile = 1 << 20

// wantedVariables are the variables to read from a process's environment.
var wantedVariables = []string{
	"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "KUBERNETES_SERVICE_HOST", "HOSTNAME",
	"POD_NAME", "POD_NAMESPACE", "CONTAINER_NAME", "NODE_NAME",
	"DOTNET_GCHeapHardLimit", "DOTNET_GCHeapHardLimitPercent", "COMPlus_GCHeapHardLimit", "COMPlus_GCHeapHardLimitPercent",
}

// lookInto reads /proc about a process.
func lookInto(pid int) outside {
	o := outside{environment: make(map[string]string)}
	if pid == 0 {
		return o
	}
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	cgroup, _ := proc.ReadSome(filepath.Join(folder, "cgroup")) // a part is better than nothing, here and below
	o.container = string(containerID.Find(cgroup))
	if uid := podUID.FindSubmatch(cgroup); uid != nil {
		o.pod = strings.ReplaceAll(string(uid[1]), "_", "-")
	}
	o.namespace = namespaceOf(folder)
	if config := configFile(folder); config != "" {
		o.properties = propertiesOf(readInside(folder, config, maxFile))
	}
	environment, _ := proc.ReadSome(filepath.Join(folder, "environ"))
	for pair := range bytes.SplitSeq(environment, []byte{0}) {
		name, value, _ := strings.Cut(string(pair), "=")
		if slices.Contains(wantedVariables, name) {
			o.environment[name] = value
		}
	}
	return o
}

// namespaceOf returns the Kubernetes namespace of a process, which the kubelet writes into
// its containers.
func namespaceOf(folder string) string {
	const path = "var/run/secrets/kubernetes.io/serviceaccount/namespace"
	return strings.TrimSpace(string(readInside(folder, path, maxValue)))
}

// configFile returns the path of a process's runtimeconfig.json, from its own root.
func configFile(folder string) string {
	program, err := os.Readlink(filepath.Join(folder, "exe"))
	if err != nil {
		return ""
	}
	commandLine, _ := proc.ReadSome(filepath.Join(folder, "cmdline"))
	arguments := strings.Split(string(commandLine), "\x00")
	config := configOf(program, arguments)
	if config == "" || filepath.IsAbs(config) {
		return config
	}
	from, err := os.Readlink(filepath.Join(folder, "cwd"))
	if err != nil {
		return ""
	}
	return filepath.Join(from, config)
}

// readInside returns the beginning of a file at a path as a process sees it, such as one
// that Kubernetes mounts into its container. Links in there cannot lead out of it.
func readInside(folder, path string, most int64) []byte {
	root, err := unix.Open(filepath.Join(folder, "root"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return b
}
