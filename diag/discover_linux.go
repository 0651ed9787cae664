package diag

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A finder looks for processes in folders for temporary files and in /proc.
type finder struct {
	folders []string
	proc    string
	// listener returns who listens at the other end of a connection.
	listener func(conn) (*unix.Ucred, error)

	claims []*claim // in all folders
	boot   time.Time
}

// A claim is a socket, in a folder that all see, that may turn out to be a process's.
type claim struct {
	socket
	folder string
	id     fileID
	taken  bool
}

// A fileID tells files apart, whatever path leads to them.
type fileID struct{ device, inode uint64 }

func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{st.Dev, st.Ino}
}

func newFinder() *finder {
	return &finder{folders: []string{os.TempDir(), "/tmp"}, proc: "/proc", listener: listenerOf}
}

// find returns the processes that have a socket, those that look like .NET
// processes but have none, and sockets that no process here has: what a process
// of another namespace, or one that was killed, left in a shared folder.
func (f *finder) find() []*Process {
	f.boot = f.bootTime()
	f.claims = nil
	visited := make(map[fileID]bool)
	for _, folder := range f.folders {
		f.visit(folder, visited)
	}
	var all []*Process
	for _, pid := range f.pids() {
		if p := f.process(pid); p != nil {
			all = append(all, p)
		}
	}
	seen := make(map[fileID]bool)
	for _, c := range f.claims {
		if c.taken {
			seen[c.id] = true
		}
	}
	for _, c := range f.claims {
		if !seen[c.id] {
			seen[c.id] = true
			all = append(all, f.unclaimed(c))
		}
	}
	return all
}

// unclaimed is the process that listens at a socket which belongs to none in
// /proc, if there is one.
func (f *finder) unclaimed(c *claim) *Process {
	p := &Process{InnerPID: c.pid, Started: c.created, stale: true}
	p.reachBy(&door{finder: f, root: hostRoot, folder: c.folder, name: c.name, inner: c.pid, router: c.router})
	return p
}

// maxSockets bounds how many sockets are looked at in a folder, which anybody may
// fill.
const maxSockets = 1 << 14

// visit reads a folder's sockets, once.
func (f *finder) visit(path string, visited map[fileID]bool) {
	at, err := hostRoot.folder(path)
	if err != nil {
		return // one that is not there has no sockets
	}
	defer at.Close()
	info, err := at.Stat()
	if err != nil || visited[idOf(info)] {
		return
	}
	visited[idOf(info)] = true
	folder, err := os.OpenFile(shortcut(at), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer folder.Close()
	for n := 0; n < maxSockets; {
		entries, err := folder.ReadDir(256)
		for _, e := range entries {
			if s, ok := socketOf(e); ok {
				f.claims = append(f.claims, &claim{socket: s, folder: path, id: idOf(s.info)})
				n++
			}
		}
		if err != nil {
			return
		}
	}
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
	who := readIdentity(folder, pid, st)
	p := &Process{PID: pid, InnerPID: who.inner}
	p.Err = f.claim(p, who)
	found := p.Err == nil || untrusted(p.Err) && !errors.Is(p.Err, errSymlink)
	if !found && st.comm != "dotnet" && !hasDotnetThread(folder) {
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

// claim finds the socket of a process: in the folders that all see, or in its own
// folder for temporary files, behind its own root. In the former, anybody may have
// put something else in its place.
func (f *finder) claim(p *Process, who *identity) error {
	d := &door{finder: f, pid: p.PID, inner: who.inner, start: who.start}
	var wrong error // with what is in the place of its socket
	for _, c := range f.claims {
		if c.taken || c.router || !c.of(who.inner, who.start) {
			continue
		}
		d.root, d.folder, d.name = hostRoot, c.folder, c.name
		_, err := d.examine(who)
		switch {
		case err == nil:
			c.taken = true
			p.reachBy(d)
			return nil
		case untrusted(err):
			c.taken = true
			wrong = cmp.Or(wrong, err)
		}
	}
	err := f.claimInside(d, who)
	if err != nil {
		return cmp.Or(wrong, err)
	}
	p.reachBy(d)
	return nil
}

// claimInside finds the socket of a process in its own folder for temporary files.
func (f *finder) claimInside(d *door, who *identity) error {
	folder := filepath.Join(f.proc, strconv.Itoa(d.pid))
	d.root = root{dir: filepath.Join(folder, "root"), follow: who.is(uint32(os.Geteuid()))}
	d.folder = "/tmp"
	if env, err := readSome(filepath.Join(folder, "environ")); err == nil {
		d.folder = cmp.Or(variable(env, "TMPDIR"), d.folder)
	}
	d.name = socketBase(d.folder, who)
	id, err := d.examine(who)
	for _, c := range f.claims {
		c.taken = c.taken || err == nil && c.id == id
	}
	switch {
	case err == nil, untrusted(err):
		return err
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("its files are out of reach: %w", fs.ErrPermission)
	default:
		return ErrNoSocket
	}
}

// of reports whether the socket is that of a process which started at a time, as
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

// stopped reports whether a process is stopped by a signal or a debugger.
func stopped(pid int) bool {
	s, ok := readStat(filepath.Join("/proc", strconv.Itoa(pid)))
	return ok && (s.state == "T" || s.state == "t")
}

// An identity is what tells a process from others, and whose it is.
type identity struct {
	inner int      // PID in its own namespace, the last one of NSpid
	start string   // since boot, in ticks
	users []uint32 // real, effective, saved, and that of the file system
}

// readIdentity reads what is known of a process; a PID stands for an unknown
// inner one.
func readIdentity(folder string, pid int, st *stat) *identity {
	who := &identity{inner: pid, start: st.start}
	b, err := readSome(filepath.Join(folder, "status"))
	if err != nil {
		return who
	}
	for line := range strings.Lines(string(b)) {
		key, values, _ := strings.Cut(line, ":")
		numbers := strings.Fields(values)
		switch {
		case key == "Uid":
			for _, s := range numbers {
				if uid, err := strconv.ParseUint(s, 10, 32); err == nil {
					who.users = append(who.users, uint32(uid))
				}
			}
		case key == "NSpid" && len(numbers) > 0:
			if inner, err := strconv.Atoi(numbers[len(numbers)-1]); err == nil {
				who.inner = inner
			}
		}
	}
	return who
}

// is reports whether the process runs as a user.
func (who *identity) is(user uint32) bool { return slices.Contains(who.users, user) }

// maxProcFile bounds what is read of a file in /proc, whose size a process can
// make anything.
const maxProcFile = 1 << 20

// readSome reads the beginning of a file in /proc.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxProcFile))
}

// hasDotnetThread reports whether one of a process's first threads has a name that
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
	b, err := readSome(filepath.Join(folder, "cmdline"))
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
	b, err := readSome(filepath.Join(folder, "cgroup"))
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

// missing returns why there is no .NET process with a PID.
func (f *finder) missing(pid int) error {
	if _, err := os.Stat(filepath.Join(f.proc, strconv.Itoa(pid))); errors.Is(err, fs.ErrNotExist) {
		return ErrNoProcess
	}
	return ErrNotDotnet
}
