package diag

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// eachOpenat2 runs a test with and without the system call openat2.
func eachOpenat2(t *testing.T, run func(*testing.T)) {
	t.Run("openat2", run)
	t.Run("walk", func(t *testing.T) {
		defer func(old func(int, string, *unix.OpenHow) (int, error)) { openat2 = old }(openat2)
		openat2 = func(int, string, *unix.OpenHow) (int, error) { return -1, unix.ENOSYS }
		run(t)
	})
}

const stranger = 12345 // a user

// give makes a file another user's, which root can do only.
func give(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("root only can give a file away")
	}
	if err := os.Lchown(path, stranger, stranger); err != nil {
		t.Fatal(err)
	}
}

// TestNeighbours: a file that somebody else puts in the place of a process's socket is
// not connected to, and the process is listed with the reason.
func TestNeighbours(t *testing.T) {
	const socket = "tmp/dotnet-diagnostic-5-100-socket"
	for _, test := range []struct {
		name string
		plan func(*testing.T, *machine) // puts something at the socket's place
		want string                     // reason; empty if the process can be reached
	}{
		{"its own", func(_ *testing.T, m *machine) { m.runtime(socket, 5, 5) }, ""},
		{"link", func(_ *testing.T, m *machine) {
			m.runtime("tmp/other", 5, 5)
			os.Symlink(m.dir+"/tmp/other", m.dir+"/"+socket)
		}, "it is a symbolic link, not a socket"},
		{"pipe", func(_ *testing.T, m *machine) { syscall.Mkfifo(m.dir+"/"+socket, 0o666) }, "it is a named pipe, not a socket"},
		{"file", func(_ *testing.T, m *machine) { m.write(socket, "") }, "it is a regular file, not a socket"},
		{"folder", func(_ *testing.T, m *machine) { os.Mkdir(m.dir+"/"+socket, 0o700) }, "it is a directory, not a socket"},
		{"another user's", func(t *testing.T, m *machine) {
			m.runtime(socket, 5, 5)
			give(t, m.dir+"/"+socket)
		}, "it belongs to user 12345, but the process runs as user 0"},
		{"another process's", func(_ *testing.T, m *machine) { m.runtime(socket, 5, 6) }, "process 6 listens on it"},
		{"hidden", func(_ *testing.T, m *machine) { m.runtime(socket, 5, 0) }, "a process of another PID namespace listens on it"},
		{"link, but its own folder has it", func(_ *testing.T, m *machine) {
			m.write("proc/5/environ", "TMPDIR=/scratch")
			m.runtime("proc/5/root/scratch/dotnet-diagnostic-5-100-socket", 5, 5)
			os.Symlink("/", m.dir+"/"+socket)
		}, ""},
		{"a pipe for a folder", func(_ *testing.T, m *machine) {
			m.write("proc/5/root/x", "")
			m.write("proc/5/environ", "TMPDIR=/pipe")
			syscall.Mkfifo(m.dir+"/proc/5/root/pipe", 0o666)
		}, "no diagnostic socket"},
		{"a folder behind a link of its own user", func(_ *testing.T, m *machine) {
			m.write("proc/5/environ", "TMPDIR=/link")
			m.runtime("proc/5/root/real/dotnet-diagnostic-5-100-socket", 5, 5)
			os.Symlink("real", m.dir+"/proc/5/root/link")
		}, ""},
		{"a folder behind a link of another user", func(t *testing.T, m *machine) {
			if os.Geteuid() != 0 {
				t.Skip("other users' folders are out of reach")
			}
			m.write("proc/5/status", fmt.Sprintf("Uid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\nNSpid:\t5\n", stranger))
			m.write("proc/5/environ", "TMPDIR=/link")
			m.runtime("proc/5/root/real/dotnet-diagnostic-5-100-socket", 5, 5)
			give(t, m.dir+"/proc/5/root/real/dotnet-diagnostic-5-100-socket")
			os.Symlink("real", m.dir+"/proc/5/root/link")
		}, "its path contains a symbolic link"},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachOpenat2(t, func(t *testing.T) {
				m := newMachine(t)
				m.run(5, 5, "100", "/app/web", ".NET EventPipe")
				test.plan(t, m)
				all := ask(context.Background(), m.finder, m.find())
				if len(all) != 1 || all[0].PID != 5 {
					t.Fatalf("%d processes, want process 5", len(all))
				}
				var untrustedErr *UntrustedError
				switch err := all[0].Err; {
				case test.want == "" && err != nil, test.want != "" && err == nil:
					t.Errorf("%v, want %q", err, test.want)
				case test.want == "" || errors.Is(err, ErrNoSocket) && test.want == ErrNoSocket.Error():
				case !errors.As(err, &untrustedErr) || untrustedErr.Err.Error() != test.want:
					t.Errorf("%v, want %q", err, test.want)
				}
			})
		})
	}
}

// TestStrayNeighbours: a socket of no visible process is connected to only if it is this
// user's own.
func TestStrayNeighbours(t *testing.T) {
	const socket = "tmp/dotnet-diagnostic-5-100-socket"
	for _, test := range []struct {
		name     string
		listener int
		give     bool
		want     string
	}{
		{"its own", 0, false, ""},
		{"another user's", 0, true, "it belongs to user 12345, and its process is in another PID namespace"},
		{"another number's", 7, false, "process 7 listens on it"},
		{"another time's", 8, false, ""}, // time namespaces count from elsewhere
		{"another time's and user's", 8, true, "it belongs to user 12345, but the process runs as user 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.run(7, 70, "100", "/bin/cat")
			m.run(8, 5, "7", "/app/web", ".NET EventPipe")
			m.runtime(socket, 5, test.listener)
			if test.give {
				give(t, m.dir+"/"+socket)
			}
			all := ask(context.Background(), m.finder, m.find())
			all = only(all, func(p *Process) bool { return p.Address != "" })
			switch {
			case len(all) != 1:
				t.Errorf("%d processes", len(all))
			case test.want == "" && (all[0].Err != nil || all[0].PID != test.listener):
				t.Errorf("process %d: %v", all[0].PID, all[0].Err)
			case test.want != "" && (!untrusted(all[0].Err) || errors.Unwrap(all[0].Err).Error() != test.want):
				t.Errorf("%v, want %q", all[0].Err, test.want)
			}
		})
	}
}

// TestManyLinks: a socket under many names is one process.
func TestManyLinks(t *testing.T) {
	m := newMachine(t)
	m.run(5, 5, "100", "/app/web")
	m.runtime("tmp/dotnet-diagnostic-5-100-socket", 5, 5)
	for i := range 2000 {
		if err := os.Link(m.dir+"/tmp/dotnet-diagnostic-5-100-socket", fmt.Sprintf("%s/tmp/dotnet-diagnostic-%d-1-socket", m.dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	if all := ask(context.Background(), m.finder, m.find()); len(all) != 1 || all[0].PID != 5 {
		t.Errorf("%d processes", len(all))
	}
}

// TestReusedNumber: a client of a process that has ended does not connect to
// another one of the same number.
func TestReusedNumber(t *testing.T) {
	m := newMachine(t)
	m.run(5, 5, "100", "/app/web")
	m.runtime("tmp/dotnet-diagnostic-5-100-socket", 5, 5)
	p := m.find()[0]
	m.run(5, 5, "200", "/app/web")
	if _, err := p.Client().Info(context.Background()); !errors.Is(err, ErrNoProcess) {
		t.Error(err)
	}
}

// TestOwnProcess: a socket of this process passes every check on the real system.
func TestOwnProcess(t *testing.T) {
	dir := tempDir(t)
	st, found := readStat("/proc/self")
	if !found {
		t.Skip("no /proc")
	}
	path := fmt.Sprintf("%s/dotnet-diagnostic-%d-%s-socket", dir, os.Getpid(), st.start)
	serveAt(t, path, newFake(t, func(command, []byte) []byte { return ok(fields{}.u32(0)) }))
	f := newFinder()
	f.folders = []string{dir}
	all := only(f.find(), func(p *Process) bool { return p.PID == os.Getpid() })
	if len(all) != 1 || all[0].Address != path {
		t.Fatalf("%+v", all)
	}
	if err := all[0].Client().Resume(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestRead: nothing but a regular file of bounded size is read.
func TestRead(t *testing.T) {
	eachOpenat2(t, func(t *testing.T) {
		dir := tempDir(t)
		r := root{dir: dir, follow: true}
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600)
		os.WriteFile(filepath.Join(dir, "large"), make([]byte, 100), 0o600)
		os.Symlink("file", filepath.Join(dir, "link"))
		os.Symlink("/dev/zero", filepath.Join(dir, "zeros"))
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)
		l, err := net.Listen("unix", filepath.Join(dir, "socket"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for name, want := range map[string]string{"file": "text", "large": "", "link": "", "zeros": "", "pipe": "", "socket": "", "none": "", ".": ""} {
			got, err := r.read("/"+name, 10)
			if string(got) != want || (err == nil) != (want != "") {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
	})
}

// TestRootEscape: links and dots in the path of another user do not lead out of its
// root.
func TestRootEscape(t *testing.T) {
	eachOpenat2(t, func(t *testing.T) {
		dir := tempDir(t)
		for _, name := range []string{"secret", "root/tmp/file"} {
			os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
			os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600)
		}
		os.Symlink("../..", dir+"/root/tmp/up")
		os.Symlink("tmp", dir+"/root/side")
		r := root{dir: dir + "/root"}
		for path, want := range map[string]string{
			"/tmp/file": "root/tmp/file", "tmp//./file": "root/tmp/file", "/tmp/../../secret": "", "/tmp/up/secret": "", "/side/file": "",
		} {
			if got, err := r.read(path, 100); string(got) != want || (err == nil) != (want != "") {
				t.Errorf("%s: %q, %v, want %q", path, got, err, want)
			}
		}
		if f, err := r.folder("/"); err != nil {
			t.Error(err)
		} else {
			f.Close()
		}
		if _, err := r.folder("/side"); !errors.Is(err, errSymlink) {
			t.Error(err)
		}
	})
}

// TestCancelledList: a file system that hangs does not hold up the list beyond its
// context.
func TestCancelledList(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if all := List(ctx); len(all) != 0 {
		t.Errorf("%d processes", len(all))
	}
	if _, err := Find(ctx, os.Getpid()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestLongNames checks that only the start of a long name is read, because a process can make
// its name as long as it likes.
func TestLongNames(t *testing.T) {
	m := newMachine(t)
	m.run(5, 5, "100", "/app/"+strings.Repeat("x", 200))
	m.runtime("tmp/dotnet-diagnostic-5-100-socket", 5, 5)
	m.write("proc/5/cmdline", "/"+strings.Repeat("y", 2*maxProcFile))
	if p := m.find()[0]; len(p.Name) > maxProcFile {
		t.Errorf("%d bytes", len(p.Name))
	}
}

func only(all []*Process, keep func(*Process) bool) []*Process {
	return slices.DeleteFunc(all, func(p *Process) bool { return !keep(p) })
}
