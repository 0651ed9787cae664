package diag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// A machine is a made-up /proc, and a folder for temporary files.
type machine struct {
	t   *testing.T
	dir string
	*finder
	listeners map[string]int // PIDs by the address of their socket; others are in another namespace
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, dir: tempDir(t), listeners: map[string]int{}}
	m.finder = &finder{folders: []string{filepath.Join(m.dir, "tmp")}, proc: filepath.Join(m.dir, "proc"), listener: m.listenerOf, memory: newMemory()}
	for _, folder := range append(m.folders, m.proc) {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.write("proc/uptime", "1000.00 2000.00\n")
	return m
}

func (m *machine) listenerOf(c conn) (*unix.Ucred, error) {
	cred, err := listenerOf(c)
	if err == nil {
		cred.Pid = int32(m.listeners[c.(net.Conn).RemoteAddr().String()])
	}
	return cred, err
}

func (m *machine) write(path, text string) {
	path = filepath.Join(m.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

// run adds a process with threads.
func (m *machine) run(pid, inner int, start string, command string, threads ...string) {
	folder := fmt.Sprintf("proc/%d/", pid)
	name := filepath.Base(command)
	m.write(folder+"stat", fmt.Sprintf("%d (%s) S 1 2 3 4 5 4194304 7 8 9 10 11 12 13 14 15 16 17 18 %s 20 21", pid, name, start))
	m.write(folder+"status", fmt.Sprintf("Name:\t%s\nUid:\t%[2]d\t%[2]d\t%[2]d\t%[2]d\nNSpid:\t%d\t%d\nThreads:\t1\n", name, os.Geteuid(), pid, inner))
	m.write(folder+"cmdline", command+"\x00--arg\x00")
	for i, name := range append([]string{name}, threads...) {
		m.write(fmt.Sprintf("%stask/%d/comm", folder, pid+i), name+"\n")
	}
}

// runtime has a fake runtime listen at a socket.
func (m *machine) runtime(path string, pid uint64, listener int) {
	m.listeners[filepath.Join(m.dir, path)] = listener
	path = filepath.Join(m.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	cookie := Cookie{byte(pid), byte(pid >> 8), 15: 1}
	info := append(fields{}.u32(1).u64(pid), cookie[:]...).str("/app/web").str("Linux").str("x64").str("web").str("10.0.12").str("linux-x64")
	serveAt(m.t, path, newFake(m.t, func(cmd command, _ []byte) []byte {
		switch cmd {
		case cmdProcessInfo3:
			return ok(info)
		case cmdProcessEnvironment:
			env := fields{}.u32(1).str("DOTNET_gcServer=1")
			return append(ok(fields{}.u32(uint32(len(env))).u16(0)), env...)
		default:
			return refuse(UnknownCommand)
		}
	}))
}

// TestDiscover finds processes wherever they are.
func TestDiscover(t *testing.T) {
	m := newMachine(t)
	socket := "dotnet-diagnostic-%d-%s-socket"

	m.run(10, 10, "100", "/app/here")
	m.runtime("tmp/"+fmt.Sprintf(socket, 10, "100"), 10, 10)
	staleSocket(t, m.dir+"/tmp/"+fmt.Sprintf(socket, 10, "99")) // of an earlier process 10

	m.run(20, 7, "200", "/app/contained", ".NET SynchManag")
	m.runtime("proc/20/root/tmp/"+fmt.Sprintf(socket, 7, "200"), 7, 20)
	m.write("proc/20/cgroup", "0::/system.slice/docker-"+strings.Repeat("0123456789abcdef", 4)+".scope\n")

	m.run(30, 8, "300", "/app/elsewhere", ".NET SynchManag")
	m.write("proc/30/environ", "A=1\x00TMPDIR=/scratch/\x00")
	m.runtime("proc/30/root/scratch/"+fmt.Sprintf(socket, 8, "300"), 8, 30)

	m.run(40, 40, "123456", "/app/cut")
	m.runtime("tmp/dotnet-diagnostic-40-1234", 40, 40)

	m.run(50, 50, "500", "/app/off", ".NET EventPipe")
	m.run(60, 60, "600", "/bin/cat")
	staleSocket(t, m.dir+"/tmp/"+fmt.Sprintf(socket, 70, "700"))
	m.runtime("tmp/"+fmt.Sprintf(socket, 80, "800"), 80, 0) // of another namespace
	m.write("tmp/dotnet-diagnostic-90-x-socket", "")

	all := ask(context.Background(), m.finder, m.find())
	var got []string
	for _, p := range all {
		got = append(got, fmt.Sprintf("%d/%d %s %s %v", p.PID, p.InnerPID, p.Name, p.Container, p.Err))
	}
	want := []string{
		"0/80 web  <nil>",
		"10/10 web  <nil>",
		"20/7 web 0123456789ab <nil>",
		"30/8 web  <nil>",
		"40/40 web  <nil>",
		"50/50 off  no diagnostic socket",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	up := time.Since(all[1].Started)
	if up < 998*time.Second || up > 1010*time.Second { // a second after a start 1000 s ago
		t.Errorf("runs for %v", up)
	}
	if all[1].GC.Server != On {
		t.Errorf("flavour %+v", all[1].GC)
	}
}

// TestTwice: a process that is found in two ways is listed once.
func TestTwice(t *testing.T) {
	m := newMachine(t)
	m.runtime("tmp/dotnet-diagnostic-5-500-socket", 5, 0)
	if err := os.Link(m.dir+"/tmp/dotnet-diagnostic-5-500-socket", m.dir+"/tmp/dotnet-diagnostic-6-500-socket"); err != nil {
		t.Skip(err)
	}
	if all := ask(context.Background(), m.finder, m.find()); len(all) != 1 {
		t.Errorf("%d processes", len(all))
	}
}

// TestOutOfReach: processes that cannot be queried are listed with the reason.
func TestOutOfReach(t *testing.T) {
	m := newMachine(t)
	m.runtime("tmp/dotnet-diagnostic-1-1-socket", 1, 0)
	serveAt(t, m.dir+"/tmp/dotnet-diagnostic-2-1-socket", newFake(t, func(command, []byte) []byte { return nil }))
	serveAt(t, m.dir+"/tmp/dotnet-diagnostic-3-1-socket", newFake(t, func(command, []byte) []byte { return []byte("nonsense, and enough of it") }))
	serveAt(t, m.dir+"/tmp/dotnet-diagnostic-4-1-socket", newFake(t, func(command, []byte) []byte { return refuse(RuntimeUninitialized) }))
	start := time.Now()
	all := ask(context.Background(), m.finder, m.find())
	if took := time.Since(start); took > 3*listTimeout {
		t.Errorf("took %v", took)
	}
	for i, want := range []error{nil, ErrNoAnswer, ErrProtocol, RuntimeUninitialized} {
		if len(all) != 4 || !errors.Is(all[i].Err, want) {
			t.Fatalf("%d processes, number %d: %v, want %v", len(all), i, all[i].Err, want)
		}
	}
}

// TestForbidden needs a user who may not do everything.
func TestForbidden(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may connect to every socket")
	}
	m := newMachine(t)
	m.run(9, 9, "1", "/app/web")
	m.runtime("tmp/dotnet-diagnostic-9-1-socket", 9, 9)
	m.runtime("tmp/dotnet-diagnostic-10-1-socket", 10, 0)
	for _, pid := range []int{9, 10} {
		os.Chmod(fmt.Sprintf("%s/tmp/dotnet-diagnostic-%d-1-socket", m.dir, pid), 0)
	}
	all := ask(context.Background(), m.finder, m.find())
	if len(all) != 2 || !errors.Is(all[0].Err, ErrForeign) || !errors.Is(all[1].Err, fs.ErrPermission) {
		t.Errorf("%+v", all)
	}
}

// TestLongPath: sockets of other containers can be behind long paths.
func TestLongPath(t *testing.T) {
	m := newMachine(t)
	folder := filepath.Join(m.dir, strings.Repeat("long/", 20))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	serveAt(t, "socket", newFake(t, func(command, []byte) []byte { return ok(fields{}.u32(0)) }))
	if err := NewClient(filepath.Join(folder, "socket")).Resume(context.Background()); err != nil {
		t.Error(err)
	}
	err := NewClient(filepath.Join(folder, "none")).Resume(context.Background())
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestZombies: a process that has ended is not found while its parent keeps it, even if it was
// killed and has left its socket. A process whose main thread has ended may still run.
func TestZombies(t *testing.T) {
	m := newMachine(t)
	for pid, threads := range map[int]int{10: 1, 20: 1, 30: 4} {
		m.run(pid, pid, "100", "/usr/bin/dotnet")
		m.write(fmt.Sprintf("proc/%d/stat", pid), fmt.Sprintf("%d (dotnet) Z 1 2 3 4 5 4227084 7 8 9 10 11 12 13 14 15 16 %d 18 100 0", pid, threads))
	}
	staleSocket(t, m.dir+"/tmp/dotnet-diagnostic-20-100-socket")
	m.runtime("tmp/dotnet-diagnostic-30-100-socket", 30, 30)
	if all := ask(context.Background(), m.finder, m.find()); len(all) != 1 || all[0].PID != 30 || all[0].Err != nil {
		t.Errorf("found %d processes: %+v", len(all), all)
	}
	if err := m.missing(10); !errors.Is(err, ErrNoProcess) {
		t.Error(err)
	}
}

func TestMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // this process may be so young that Find waits
		if _, err := Find(t.Context(), 1<<22+1); !errors.Is(err, ErrNoProcess) {
			t.Error(err)
		}
		if _, err := Find(t.Context(), os.Getpid()); !errors.Is(err, ErrNotDotnet) {
			t.Error(err)
		}
	})
}

// TestLateSocket: a process that starts is found as soon as it answers, whatever it looks like
// until then.
func TestLateSocket(t *testing.T) {
	m := newMachine(t)
	const pid = 5
	m.run(pid, pid, "99950", "/app/web") // it is half a second old
	m.runtime("tmp/later", pid, pid)
	socket := m.dir + "/tmp/dotnet-diagnostic-5-99950-socket"
	var reasons []error
	find := func() (*Process, error) {
		p, err := query(context.Background(), m.finder, pid)
		reasons = append(reasons, err)
		switch len(reasons) {
		case 1:
			m.write("proc/5/task/6/comm", ".NET SynchManag\n")
		case 2:
			staleSocket(t, socket)
		case 3:
			if err := os.Rename(m.dir+"/tmp/later", socket); err != nil {
				t.Fatal(err)
			}
		}
		return p, err
	}
	synctest.Test(t, func(t *testing.T) {
		p, err := awaitSocket(t.Context(), find, func() bool { return young(m.startOf(pid)) })
		if err != nil || p.PID != pid || p.Info == nil {
			t.Errorf("%+v, %v", p, err)
		}
	})
	for i, want := range []error{ErrNotDotnet, ErrNoSocket, connectionRefused, nil} {
		if len(reasons) != 4 || !errors.Is(reasons[i], want) {
			t.Fatalf("%d looks, number %d: %v, want %v", len(reasons), i, reasons[i], want)
		}
	}
}

// TestYoung: an old process is not waited for, and one whose age is unknown is.
func TestYoung(t *testing.T) {
	m := newMachine(t)
	for i, test := range []struct {
		start string // in ticks since the system was started, 1000 s ago
		young bool
	}{
		{"99999", true},
		{"99000", false},
		{"0", false},
		{"200000", true},
		{"soon", true},
	} {
		pid := i + 1
		m.run(pid, pid, test.start, "/bin/cat")
		if got := young(m.startOf(pid)); got != test.young {
			t.Errorf("started at %s: young %t, want %t", test.start, got, test.young)
		}
	}
	if !young(m.startOf(99)) {
		t.Error("a process of unknown age is old")
	}
}

// TestBadProc checks that damaged files in /proc do not pass for a process.
func TestBadProc(t *testing.T) {
	m := newMachine(t)
	for i, stat := range []string{"", "1", "1 (x", ") (", "1 (x) S 1 2", "1 (a) b) S " + strings.Repeat("x ", 30)} {
		folder := fmt.Sprintf("proc/%d/", i+1)
		m.write(folder+"stat", stat)
		m.write(folder+"status", "NSpid:\nNSpid:\tx\n")
	}
	m.write("proc/uptime", "soon")
	if all := m.find(); len(all) != 0 {
		t.Errorf("%+v", all[0])
	}
}

func TestFlavour(t *testing.T) {
	dir := tempDir(t)
	config := filepath.Join(dir, "web.runtimeconfig.json")
	p := &Process{Info: &Info{CommandLine: filepath.Join(dir, "web") + " --x", EntryAssembly: "web"}}
	for _, test := range []struct {
		env    []string
		config string
		want   Flavour
	}{
		{nil, "", Flavour{}},
		{[]string{"A=1", "DOTNET_gcServer=1", "DOTNET_gcConcurrent=0x0"}, "", Flavour{On, Off}},
		{[]string{"COMPlus_GCSERVER=0", "DOTNET_gcConcurrent=yes"}, "", Flavour{Off, Unknown}},
		{nil, `{"runtimeOptions": {"configProperties": {"System.GC.Server": true, "System.GC.Concurrent": false}}}`, Flavour{On, Off}},
		{nil, `{"runtimeOptions": {"tfm": "net10.0"}}`, Flavour{Off, On}},
		{[]string{"DOTNET_gcServer=1"}, `{"runtimeOptions": {}}`, Flavour{On, On}},
		{nil, `not JSON`, Flavour{}},
	} {
		os.Remove(config)
		if test.config != "" {
			os.WriteFile(config, []byte(test.config), 0o600)
		}
		if got := p.flavour(test.env); got != test.want {
			t.Errorf("%q, %s: %+v, want %+v", test.env, test.config, got, test.want)
		}
	}
}
