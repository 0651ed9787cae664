package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc"
)

// tree writes files below a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const status = "Name:\tweb\nVmRSS:\t    2048 kB\nRssAnon:\t    1024 kB\nRssFile:\t     512 kB\nRssShmem:\t     4 kB\nVmSwap:\t       0 kB\n"

// TestMemoryVersion2 reads a container whose pod has the lower limit.
func TestMemoryVersion2(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/7/status":       status,
		"proc/7/cgroup":       "0::/kubepods/pod1/box\n",
		"proc/7/smaps_rollup": "Rss: 2048 kB\nPss:   1500 kB\nPrivate_Clean:  100 kB\nPrivate_Dirty: 900 kB\n",
		"sys/fs/cgroup/kubepods/pod1/box/memory.current": "4000\n",
		"sys/fs/cgroup/kubepods/pod1/box/memory.max":     "max\n",
		"sys/fs/cgroup/kubepods/pod1/box/memory.events":  "low 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n",
		"sys/fs/cgroup/kubepods/pod1/memory.current":     "5000\n",
		"sys/fs/cgroup/kubepods/pod1/memory.max":         "8192\n",
		"sys/fs/cgroup/kubepods/memory.max":              "99999\n",
	})
	check(t, root, MemorySample{
		RSS: gc.Some(int64(2 << 20)), Anon: gc.Some(int64(1 << 20)), File: gc.Some(int64(512 << 10)), Shared: gc.Some(int64(4 << 10)), Swap: gc.Some(int64(0)),
		PSS: gc.Some(int64(1500 << 10)), Private: gc.Some(int64(1000 << 10)),
		Used: gc.Some(int64(5000)), Limit: gc.Some(int64(8192)), OOMKills: gc.Some(int64(2)),
	})
}

func TestMemoryVersion1(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/7/status": status,
		"proc/7/cgroup": "9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n",
		"sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": "4000\n",
		"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "6000\n",
		"sys/fs/cgroup/memory/docker/abc/memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":            "9223372036854771712\n",
	})
	check(t, root, MemorySample{
		RSS: gc.Some(int64(2 << 20)), Anon: gc.Some(int64(1 << 20)), File: gc.Some(int64(512 << 10)), Shared: gc.Some(int64(4 << 10)), Swap: gc.Some(int64(0)),
		Used: gc.Some(int64(4000)), Limit: gc.Some(int64(6000)), OOMKills: gc.Some(int64(1)),
	})
}

func check(t *testing.T, root string, want MemorySample) {
	t.Helper()
	r := newMemoryReader(root, 7)
	r.ReadShares()
	got, err := r.Read(true)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if err := os.RemoveAll(filepath.Join(root, "proc")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(false); err == nil {
		t.Error("a process that has ended was read")
	}
	if n := r.KillsSince(); n != gc.Some(int64(0)) {
		t.Errorf("%v kills since the end", n)
	}
}

// TestMemoryHostile reads files of which nothing can be used.
func TestMemoryHostile(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/7/status":            "VmRSS:\nRssAnon: 99999999999999999999 kB\nRssFile:\t-5 kB\nVmSwap 7\n",
		"proc/7/cgroup":            "nonsense\n0::/../../..\n4:memory:\n",
		"sys/fs/cgroup/memory.max": "lots\n",
	})
	got, err := newMemoryReader(root, 7).Read(true)
	if err == nil || fmt.Sprint(got) != fmt.Sprint(MemorySample{}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestMemorySelf reads the test's own memory.
func TestMemorySelf(t *testing.T) {
	s, err := NewMemoryReader(os.Getpid()).Read(true)
	if err != nil {
		t.Fatal(err)
	}
	if rss := s.RSS.Or(0); rss < 1<<20 || rss > 1<<34 {
		t.Errorf("resident: %d", rss)
	}
	if !Available().Known() {
		t.Error("the available memory is not known")
	}
}
