package diag

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A finder looks for processes in folders for temporary files and in /proc.
type finder struct {
	folders []string
	proc    string

	visited map[folderID][]*claim
	boot    time.Time
}

// A folderID tells folders apart, whatever path leads to them.
type folderID struct{ device, inode uint64 }

// A claim is a socket that may turn out to be a process's.
type claim struct {
	socket
	taken bool
}

func newFinder() *finder {
	return &finder{folders: []string{os.TempDir(), "/tmp"}, proc: "/proc"}
}

// find returns the processes that have a socket, those that look like .NET
// processes but have none, and sockets that no process here has: what a process
// of another namespace, or one that was killed, left in a shared folder.
func (f *finder) find() []*Process {
	f.visited = make(map[folderID][]*claim)
	f.boot = f.bootTime()
	for _, folder := range f.folders {
		_, _ = f.visit(folder) // one that is not there has no sockets
	}
	var all []*Process
	for _, pid := range f.pids() {
		if p := f.process(pid); p != nil {
			all = append(all, p)
		}
	}
	for _, claims := range f.visited {
		for _, c := range claims {
			if !c.taken {
				all = append(all, &Process{InnerPID: c.pid, Address: c.path, Started: c.created, stale: true})
			}
		}
	}
	return all
}

// visit reads a folder's sockets, once.
func (f *finder) visit(folder string) ([]*claim, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fs.ErrInvalid
	}
	id := folderID{st.Dev, st.Ino}
	if claims, ok := f.visited[id]; ok {
		return claims, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	claims := []*claim{}
	for _, s := range sockets(strings.TrimSuffix(folder, "/")+"/", entries) {
		claims = append(claims, &claim{socket: s})
	}
	f.visited[id] = claims
	return claims, nil
}

func (f *finder) pids() []int {
	entries, err := os.ReadDir(f.proc)
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// process returns the .NET process with a PID, or nil if it is none.
func (f *finder) process(pid int) *Process {
	folder := filepath.Join(f.proc, strconv.Itoa(pid))
	st, ok := readStat(folder)
	if !ok || st.kernel {
		return nil
	}
	p := &Process{PID: pid, InnerPID: innerPID(folder, pid)}
	p.Err = f.claim(p, st.start, folder)
	if p.Err != nil && st.comm != "dotnet" && !hasDotnetThread(folder) {
		return nil
	}
	p.Name = st.comm
	if line := commandLine(folder); line != "" {
		p.Name = programName(line)
	}
	p.Container = containerOf(folder)
	if ticks, err := strconv.ParseInt(st.start, 10, 64); err == nil && !f.boot.IsZero() {
		p.Started = f.boot.Add(time.Duration(ticks) * (time.Second / ticksPerSecond))
	}
	return p
}

// claim finds the socket of a process and takes it: in the folders that all see,
// or in its own folder for temporary files, behind its own root.
func (f *finder) claim(p *Process, start, folder string) error {
	for _, shared := range f.folders {
		claims, _ := f.visit(shared)
		if c := claimOf(claims, p.InnerPID, start); c != nil {
			c.taken, p.Address = true, c.path
			return nil
		}
	}
	temp := "/tmp"
	if env, err := os.ReadFile(filepath.Join(folder, "environ")); err == nil {
		temp = cmp.Or(variable(env, "TMPDIR"), temp)
	}
	temp = filepath.Join(folder, "root", temp)
	claims, err := f.visit(temp)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("its files are out of reach: %w", fs.ErrPermission)
	}
	c := claimOf(claims, p.InnerPID, start)
	if c == nil {
		return ErrNoSocket
	}
	// Not by the path that the folder was first visited by, which ends with the
	// process that it leads through.
	c.taken, p.Address = true, filepath.Join(temp, filepath.Base(c.path))
	return nil
}

// claimOf returns the socket of a process.
func claimOf(claims []*claim, pid int, start string) *claim {
	i := slices.IndexFunc(claims, func(c *claim) bool { return !c.taken && c.of(pid, start) })
	if i < 0 {
		return nil
	}
	return claims[i]
}

// of says whether the socket is that of a process which started at a time, as
// its system counts.
func (s *socket) of(pid int, start string) bool {
	return s.pid == pid && (s.key == start || s.cut && strings.HasPrefix(start, s.key))
}

// variable returns the value of a variable in a block of them.
func variable(env []byte, name string) string {
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// ticksPerSecond is USER_HZ, the unit of times in /proc, whatever the kernel's.
const ticksPerSecond = 100

// A stat is what is needed of /proc/PID/stat.
type stat struct {
	comm   string // name of the main thread
	state  string
	start  string // since boot, in ticks
	kernel bool   // it is a thread of the kernel
}

func readStat(folder string) (*stat, bool) {
	const (
		state        = 0 // field 3, as the manual counts
		flags        = 6
		startTime    = 19
		kernelThread = 0x00200000
	)
	b, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return nil, false
	}
	s := string(b)
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return nil, false
	}
	fields := strings.Fields(s[end+1:])
	if len(fields) <= startTime {
		return nil, false
	}
	bits, _ := strconv.ParseUint(fields[flags], 10, 32)
	return &stat{s[open+1 : end], fields[state], fields[startTime], bits&kernelThread != 0}, true
}

// stopped says whether a process is stopped by a signal or a debugger.
func stopped(pid int) bool {
	s, ok := readStat(filepath.Join("/proc", strconv.Itoa(pid)))
	return ok && (s.state == "T" || s.state == "t")
}

// innerPID is the number of a process in its own namespace, the last one of
// NSpid.
func innerPID(folder string, pid int) int {
	b, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		return pid
	}
	for line := range strings.Lines(string(b)) {
		numbers, ok := strings.CutPrefix(line, "NSpid:")
		if !ok {
			continue
		}
		if all := strings.Fields(numbers); len(all) > 0 {
			if inner, err := strconv.Atoi(all[len(all)-1]); err == nil {
				return inner
			}
		}
	}
	return pid
}

// hasDotnetThread says whether one of a process's first threads has a name that
// the runtime gives. Anybody may read these.
func hasDotnetThread(folder string) bool {
	const enough = 16
	tasks, err := os.Open(filepath.Join(folder, "task"))
	if err != nil {
		return false
	}
	defer tasks.Close()
	names, _ := tasks.Readdirnames(enough)
	return slices.ContainsFunc(names, func(tid string) bool {
		comm, err := os.ReadFile(filepath.Join(folder, "task", tid, "comm"))
		return err == nil && bytes.HasPrefix(comm, []byte(".NET "))
	})
}

func commandLine(folder string) string {
	b, err := os.ReadFile(filepath.Join(folder, "cmdline"))
	if err != nil {
		return ""
	}
	word, _, _ := bytes.Cut(b, []byte{0})
	return `"` + string(word) + `"`
}

// containerID is the id of a container in the name of a control group, as
// Docker, containerd, CRI-O and Podman write it.
var containerID = regexp.MustCompile(`[0-9a-f]{64}`)

// containerOf is the short form of the id of a process's container.
func containerOf(folder string) string {
	const short = 12
	b, err := os.ReadFile(filepath.Join(folder, "cgroup"))
	if err != nil {
		return ""
	}
	if id := containerID.Find(b); id != nil {
		return string(id[:short])
	}
	return ""
}

// bootTime is when the system was started.
func (f *finder) bootTime() time.Time {
	b, err := os.ReadFile(filepath.Join(f.proc, "uptime"))
	if err != nil {
		return time.Time{}
	}
	up, _, _ := strings.Cut(string(b), " ")
	d, err := time.ParseDuration(up + "s")
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(-d)
}

// missing says why there is no .NET process with a PID.
func (f *finder) missing(pid int) error {
	if _, err := os.Stat(filepath.Join(f.proc, strconv.Itoa(pid))); errors.Is(err, fs.ErrNotExist) {
		return ErrNoProcess
	}
	return ErrNotDotnet
}
