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

	"github.com/gctrail/gctrail/internal/program"
)

// A finder looks for processes in folders for temporary files and in /proc.
type finder struct {
	folders []string
	proc    string
	// listener returns the credentials of the process at the other end of a connection.
	listener func(conn) (*unix.Ucred, error)
	memory   *memory
}

// A look is one search for processes.
type look struct {
	*finder
	boot   time.Time
	claims []*claim         // in all folders
	named  map[int][]*claim // by the PID in their name
	seen   map[fileID]bool  // sockets of processes that were found
}

func (f *finder) look() *look {
	return &look{finder: f, boot: f.bootTime(), named: make(map[int][]*claim), seen: make(map[fileID]bool)}
}

// A claim is a socket in a shared folder that may belong to a process.
type claim struct {
	socket
	folder string
	stamp  stamp
	taken  bool
}

func (l *look) add(c *claim) {
	l.claims = append(l.claims, c)
	l.named[c.pid] = append(l.named[c.pid], c)
}

// A fileID identifies a file, whatever path leads to it.
type fileID struct{ device, inode uint64 }

func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{st.Dev, st.Ino}
}

func newFinder() *finder {
	return &finder{folders: []string{os.TempDir(), "/tmp"}, proc: "/proc", listener: listenerOf, memory: newMemory()}
}

// find returns the processes that have a socket, processes that look like .NET but have
// none, and sockets of no local process: the process is in another namespace, or was
// killed.
func (f *finder) find() []*Process {
	l := f.look()
	visited := make(map[fileID]bool)
	for _, folder := range f.folders {
		l.visit(folder, visited)
	}
	pids, sockets := make(map[int]bool), make(map[stamp]bool)
	var all []*Process
	for _, pid := range f.pids() {
		pids[pid] = true
		if p := l.process(pid); p != nil {
			all = append(all, p)
		}
	}
	for _, c := range l.claims {
		sockets[c.stamp] = true
		if c.taken {
			l.seen[c.stamp.fileID] = true
		}
	}
	for _, c := range l.claims {
		if !l.seen[c.stamp.fileID] && !f.memory.buried(c.stamp) {
			l.seen[c.stamp.fileID] = true
			all = append(all, f.unclaimed(c))
		}
	}
	f.memory.forget(pids, sockets)
	return all
}

// unclaimed returns the process that listens at a socket which belongs to none in /proc,
// if there is one.
func (f *finder) unclaimed(c *claim) *Process {
	p := &Process{InnerPID: c.pid, Started: c.created, stale: true, sighting: &sighting{socket: c.stamp}}
	p.reachBy(&endpoint{finder: f, root: hostRoot, folder: c.folder, name: c.name, inner: c.pid, router: c.router})
	return p
}

// maxSockets bounds how many sockets are examined in a folder, because anybody may fill
// it.
const maxSockets = 1 << 14

// visit reads a folder's sockets, once.
func (l *look) visit(path string, visited map[fileID]bool) {
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
				l.add(&claim{socket: s, folder: path, stamp: stampOf(s.info)})
				n++
			}
		}
		if err != nil {
			return
		}
	}
}

func (f *finder) pids() []int {
	folder, err := os.Open(f.proc)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// process returns the .NET process with a PID, or nil if it is none.
func (l *look) process(pid int) *Process {
	folder := filepath.Join(l.proc, strconv.Itoa(pid))
	st, ok := readStat(folder)
	if !ok || st.kernel || st.ended() {
		return nil
	}
	if s := l.recall(pid, st); s != nil {
		return s.process
	}
	who := readIdentity(folder, pid, st)
	p := &Process{PID: pid, InnerPID: who.inner}
	p.Err = l.claim(p, st, who)
	found := p.Err == nil || untrusted(p.Err) && !errors.Is(p.Err, errSymlink)
	if !found && st.comm != "dotnet" && !hasDotnetThread(folder) {
		l.foreign(pid, who.inner, st)
		return nil
	}
	p.Name = st.comm
	if line := commandLine(folder); line != "" {
		p.Name = program.Name(line)
	}
	p.Container = containerOf(folder)
	p.Started = l.started(st)
	return p
}

// started returns the time when a process was started; zero if unknown.
func (l *look) started(st *stat) time.Time {
	ticks, err := strconv.ParseInt(st.start, 10, 64)
	if err != nil || l.boot.IsZero() {
		return time.Time{}
	}
	return l.boot.Add(time.Duration(ticks) * (time.Second / ticksPerSecond))
}

// claim finds the socket of a process in the shared folders, or in the process's own folder for
// temporary files, behind its own root. The caller must verify it, because anybody may have
// created the file in a shared folder.
func (l *look) claim(p *Process, st *stat, who *identity) error {
	d := &endpoint{finder: l.finder, pid: p.PID, inner: who.inner, start: who.start}
	own := func(socket stamp) {
		p.sighting = &sighting{stat: *st, inner: who.inner, endpoint: d, socket: socket}
		p.reachBy(d)
	}
	var wrong error // with the fault of the file in the socket's place
	for _, c := range l.named[who.inner] {
		if c.taken || c.router || !c.of(who.inner, who.start) {
			continue
		}
		d.root, d.folder, d.name = hostRoot, c.folder, c.name
		socket, err := d.examine(who)
		switch {
		case err == nil:
			c.taken = true
			own(socket)
			return nil
		case untrusted(err):
			c.taken = true
			wrong = cmp.Or(wrong, err)
		}
	}
	socket, err := l.claimInside(d, who)
	if err != nil {
		return cmp.Or(wrong, err)
	}
	l.seen[socket.fileID] = true
	own(socket)
	return nil
}

// claimInside finds the socket of a process in its own folder for temporary files.
func (l *look) claimInside(d *endpoint, who *identity) (stamp, error) {
	folder := filepath.Join(l.proc, strconv.Itoa(d.pid))
	d.root = root{dir: filepath.Join(folder, "root"), follow: who.is(uint32(os.Geteuid()))}
	d.folder = "/tmp"
	if env, err := readSome(filepath.Join(folder, "environ")); err == nil {
		d.folder = cmp.Or(variable(env, "TMPDIR"), d.folder)
	}
	d.name = socketBase(d.folder, who)
	socket, err := d.examine(who)
	switch {
	case err == nil, untrusted(err):
		return socket, err
	case errors.Is(err, fs.ErrPermission):
		return stamp{}, fmt.Errorf("its files are out of reach: %w", fs.ErrPermission)
	default:
		return stamp{}, ErrNoSocket
	}
}

// of reports whether the socket belongs to the process that started at a time, as its
// system counts.
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

// A stat holds the fields of /proc/PID/stat that a look needs.
type stat struct {
	comm   string // name of the main thread
	state  string // of the main thread
	single bool   // it has no other thread
	start  string // since boot, in ticks
	kernel bool   // it is a thread of the kernel
}

// maxStat is how long /proc/PID/stat can be: 52 numbers, and a name.
const maxStat = 2048

func readStat(folder string) (*stat, bool) {
	const (
		state        = 0 // field 3, as the manual counts
		flags        = 6
		threads      = 17
		startTime    = 19
		kernelThread = 0x00200000
	)
	var room [maxStat]byte
	b, err := readStart(folder+"/stat", room[:])
	if err != nil {
		return nil, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return nil, false
	}
	st := &stat{comm: string(b[open+1 : end])}
	_, rest, _ := bytes.Cut(b[end:], []byte(" "))
	for n := 0; len(rest) > 0; n++ {
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte(" "))
		switch n {
		case state:
			st.state = string(field)
		case flags:
			bits, _ := strconv.ParseUint(string(field), 10, 32)
			st.kernel = bits&kernelThread != 0
		case threads:
			st.single = string(field) == "1"
		case startTime:
			st.start = string(field)
			return st, true
		}
	}
	return nil, false
}

// readStart reads the start of a file in /proc, up to the length of room. It makes as few
// system calls as possible, because every look reads such files of every process.
func readStart(path string, room []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Read(fd, room)
		if !errors.Is(err, unix.EINTR) {
			return room[:max(n, 0)], err
		}
	}
}

// runs reports whether the process runs: it is not stopped, and its main thread has not ended.
func (st *stat) runs() bool { return !st.stopped() && !st.zombie() }

// zombie reports whether the main thread has ended.
func (st *stat) zombie() bool { return st.state == "Z" || st.state == "X" }

// ended reports whether the process has ended, and is kept until its parent notices. A program
// whose main thread ends before its other threads still runs.
func (st *stat) ended() bool { return st.zombie() && st.single }

// stopped reports whether the process is stopped by a signal or a debugger.
func (st *stat) stopped() bool { return st.state == "T" || st.state == "t" }

// stopped reports whether a process is stopped.
func stopped(pid int) bool {
	st, ok := readStat(filepath.Join("/proc", strconv.Itoa(pid)))
	return ok && st.stopped()
}

// An identity identifies a process and its user.
type identity struct {
	inner int      // PID in its own namespace, the last one of NSpid
	start string   // since boot, in ticks
	users []uint32 // real, effective, saved, and that of the file system
}

// readIdentity reads the identity of a process. If its inner PID is unknown, it is
// the PID.
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

// maxProcFile bounds reads of a file in /proc, because a process can give it any size.
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

// hasDotnetThread reports whether one of a process's first threads has a name that the
// runtime gives. It works without privileges, because anybody may read the names.
func hasDotnetThread(folder string) bool {
	const enough = 16
	tasks, err := os.Open(filepath.Join(folder, "task"))
	if err != nil {
		return false
	}
	defer tasks.Close()
	names, _ := tasks.Readdirnames(enough)
	return slices.ContainsFunc(names, func(tid string) bool {
		var room [maxComm]byte
		comm, err := readStart(folder+"/task/"+tid+"/comm", room[:])
		return err == nil && bytes.HasPrefix(comm, []byte(".NET "))
	})
}

// maxComm is how long the name of a thread can be, and more.
const maxComm = 64

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

// containerOf returns the short form of the id of a process's container.
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

// bootTime returns the time when the system was started.
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

// candidates returns all processes: the PID may be one inside a container.
func (f *finder) candidates(int) []*Process { return f.find() }

// startOf returns the time when a process was started; zero if unknown.
func (f *finder) startOf(pid int) time.Time {
	st, ok := readStat(filepath.Join(f.proc, strconv.Itoa(pid)))
	if !ok {
		return time.Time{}
	}
	return f.look().started(st)
}

// forget makes the next look examine a process again.
func (f *finder) forget(pid int) {
	f.memory.mu.Lock()
	defer f.memory.mu.Unlock()
	delete(f.memory.sightings, pid)
}

// missing returns why there is no .NET process with a PID.
func (f *finder) missing(pid int) error {
	folder := filepath.Join(f.proc, strconv.Itoa(pid))
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return ErrNoProcess
	}
	if st, ok := readStat(folder); ok && st.ended() {
		return ErrNoProcess
	}
	return ErrNotDotnet
}
