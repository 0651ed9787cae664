package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// write writes files below a folder.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// expect reads the process a second time, after a change, and compares.
func expect(t *testing.T, r *ProcessorReader, want ProcessorSample) {
	t.Helper()
	got, err := r.Read(new(Scan))
	got.Cost = 0
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func limitsOf(r *ProcessorReader) *gc.Limits {
	event := r.Limits()
	return gc.NewLimits(&event)
}

// TestProcessorVersion2 reads a container whose pod has the lower quota, and counts threads that
// begin, end, and take another's id.
func TestProcessorVersion2(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"proc/7/cgroup":                                "0::/kubepods/pod1/box\n",
		"proc/7/status":                                "Name:\tweb\nCpus_allowed:\t0,0000000f\n",
		"proc/7/environ":                               "PATH=/bin\x00DOTNET_gcServer=1\x00DOTNET_TieredPGO=0\x00SECRET=DOTNET_GCx=1\x00COMPlus_GCHeapCount=4\x00DOTNET_GCName=/home/me/libclrgc.so\x00DOTNET_GC=\x00",
		"proc/7/task/7/schedstat":                      "1000 200 5\n",
		"proc/7/task/8/schedstat":                      "50 70 1\n",
		"proc/pressure/cpu":                            "some avg10=1.00 avg60=2.00 avg300=3.00 total=900\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"proc/stat":                                    "cpu  10 20 30 4000 50 6 7 8 9 10\ncpu0 1 2 3 4\n",
		"sys/devices/system/cpu/online":                "0-7,16\n",
		"sys/fs/cgroup/kubepods/pod1/cpu.stat":         "usage_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 4000\n",
		"sys/fs/cgroup/kubepods/pod1/cpu.max":          "50000 100000\n",
		"sys/fs/cgroup/kubepods/pod1/cpu.pressure":     "some avg10=1.00 avg60=2.00 avg300=3.00 total=1\n",
		"sys/fs/cgroup/kubepods/pod1/box/cpu.stat":     "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
		"sys/fs/cgroup/kubepods/pod1/box/cpu.max":      "max 100000\n",
		"sys/fs/cgroup/kubepods/pod1/box/cpu.pressure": "some avg10=1.00 avg60=2.00 avg300=3.00 total=77\n",
		"sys/fs/cgroup/cpu.stat":                       "usage_usec 5\n",
	})
	r := newProcessorReader(root, 7)
	l := limitsOf(r)
	if !slices.Equal(l.Settings, []string{"DOTNET_gcServer=1", "COMPlus_GCHeapCount=4", "DOTNET_GCName=…"}) {
		t.Errorf("settings: %q", l.Settings)
	}
	if l.Processors != 4 || l.MachineProcessors != 9 || l.Quota != 50*time.Millisecond || l.Period != 100*time.Millisecond {
		t.Errorf("%+v", l)
	}
	want := ProcessorSample{
		Threads: gc.Some(2), Run: gc.Some(time.Duration(0)), Wait: gc.Some(time.Duration(0)),
		Periods: gc.Some(int64(10)), Throttled: gc.Some(int64(3)), ThrottledFor: gc.Some(4 * time.Millisecond),
		Machine: gc.Some(900 * time.Microsecond), Cgroup: gc.Some(77 * time.Microsecond),
		Busy: gc.Some(730 * time.Millisecond), Stolen: gc.Some(80 * time.Millisecond),
	}
	expect(t, r, want)
	write(t, root, map[string]string{
		"proc/7/task/7/schedstat": "1500 300 5\n", // 500 and 100 more
		"proc/7/task/8/schedstat": "40 10 1\n",    // another thread
		"proc/7/task/9/schedstat": "7 3 1\n",      // a new one
	})
	want.Threads, want.Run, want.Wait = gc.Some(3), gc.Some(time.Duration(547)), gc.Some(time.Duration(113))
	expect(t, r, want)
	if err := os.RemoveAll(filepath.Join(root, "proc/7/task/9")); err != nil {
		t.Fatal(err)
	}
	want.Threads = gc.Some(2)
	expect(t, r, want)
	if err := os.RemoveAll(filepath.Join(root, "proc/7/task")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(new(Scan)); err == nil {
		t.Error("a process that has ended was read")
	}
}

// TestProcessorGC recognizes threads that collect by their names: one gets its name
// after it was read first, one ends, and another's id is used again.
func TestProcessorGC(t *testing.T) {
	root := t.TempDir()
	threads := func(texts map[string]string) {
		t.Helper()
		files := make(map[string]string)
		for id, text := range texts {
			name, stat, _ := strings.Cut(text, "|")
			files["proc/7/task/"+id+"/comm"], files["proc/7/task/"+id+"/schedstat"] = name+"\n", stat+" 0 1\n"
		}
		write(t, root, files)
	}
	r := newProcessorReader(root, 7)
	steps := []struct {
		threads            map[string]string
		ended              string
		count              gc.Opt[int]
		server, background int
	}{
		{map[string]string{"7": "web|1000", "8": "BGC|100"}, "", gc.Opt[int]{}, 0, 0},
		{map[string]string{"7": "web|2000", "8": "BGC|200", "9": ".NET Server GC|50", "10": ".NET Server GC|5"}, "", gc.Some(2), 55, 0},
		{map[string]string{"7": "web|2500", "9": ".NET Server GC|90", "10": ".NET BGC|6"}, "8", gc.Some(2), 95, 1},
		{map[string]string{"9": ".NET Server GC|91", "10": "renamed|16"}, "", gc.Some(2), 96, 11},
		{map[string]string{"9": ".NET Finalizer|2"}, "10", gc.Some(0), 96, 11},
	}
	for i, s := range steps {
		if s.ended != "" {
			if err := os.RemoveAll(filepath.Join(root, "proc/7/task", s.ended)); err != nil {
				t.Fatal(err)
			}
		}
		threads(s.threads)
		got, err := r.Read(new(Scan))
		if err != nil || got.GCThreads != s.count || got.ServerGC.Or(0) != time.Duration(s.server) || got.BackgroundGC.Or(0) != time.Duration(s.background) {
			t.Errorf("step %d: %v threads, server %v, background %v, %v; want %+v", i, got.GCThreads, got.ServerGC, got.BackgroundGC, err, s)
		}
	}
}

// TestProcessorVersion1 reads the counters in nanoseconds, and each file once in a round.
func TestProcessorVersion1(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"proc/7/cgroup":                                  "4:cpu,cpuacct:/docker/abc\n0::/\n",
		"proc/7/task/7/schedstat":                        "0 0 0\n", // a kernel without these statistics
		"sys/fs/cgroup/cpu/docker/abc/cpu.stat":          "nr_periods 178\nnr_throttled 145\nthrottled_time 4900000000\n",
		"sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us":  "20000\n",
		"sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
		"sys/fs/cgroup/cpu/cpu.stat":                     "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":             "-1\n",
		"sys/fs/cgroup/cpu/cpu.cfs_period_us":            "100000\n",
	})
	r := newProcessorReader(root, 7)
	if l := limitsOf(r); l.Quota != 20*time.Millisecond || l.Period != 100*time.Millisecond {
		t.Errorf("%+v", l)
	}
	var scan Scan
	for range 2 {
		s, err := r.Read(&scan)
		if err != nil || s.Periods != gc.Some(int64(178)) || s.Throttled != gc.Some(int64(145)) || s.ThrottledFor != gc.Some(4900*time.Millisecond) || s.Run.Known() {
			t.Errorf("%v, %v", s, err)
		}
		if err := os.RemoveAll(filepath.Join(root, "sys")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProcessorHostile reads files without any usable content.
func TestProcessorHostile(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"proc/7/cgroup":                 "nonsense\n0::/../../..\n4:cpu:\n",
		"proc/7/status":                 "Cpus_allowed:\txyz\n",
		"proc/7/task/7/schedstat":       "-1 99999999999999999999 3\n",
		"proc/pressure/cpu":             "some total=many\n",
		"proc/stat":                     "cpu  1 2 3\n",
		"sys/devices/system/cpu/online": "9-3\n",
		"sys/fs/cgroup/cpu.stat":        "nr_periods -5\n",
		"sys/fs/cgroup/cpu.max":         "9223372036854775807 9223372036854775807\n",
	})
	r := newProcessorReader(root, 7)
	if l := limitsOf(r); l.Processors != 0 || l.MachineProcessors != 0 || l.Quota != 0 || l.Settings != nil {
		t.Errorf("%+v", l)
	}
	expect(t, r, ProcessorSample{Threads: gc.Some(1)})
}

// TestProcessorSelf reads the test's own time.
func TestProcessorSelf(t *testing.T) {
	r := NewProcessorReader(os.Getpid())
	l := r.Limits()
	s, err := r.Read(new(Scan))
	if err != nil || l.Processors == 0 || s.Threads.Or(0) == 0 {
		t.Fatal(l, s, err)
	}
	if !s.Run.Known() {
		t.Skip("this kernel does not count how long threads run")
	}
	for range 1 << 20 { // it runs until the kernel has counted some of it
		if s, err = r.Read(new(Scan)); err != nil || s.Run.Or(0) > 0 {
			break
		}
	}
	if s.Run.Or(0) <= 0 {
		t.Error("nothing was run")
	}
}
