package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/internal/cli"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// The world of the commands is a machine of their own: namespaces of mounts, processes, networks
// and the host's name, in which process 1234 is the program that documents call so, names such
// as collector are this machine, and nothing that a command does is seen outside.
const (
	inWorld = "GCTRAIL_DOCUMENTED_WORLD" // has the folder of the world, in the process inside
	noWorld = "no world: "               // begins the reason that there is none
	mounted = "/mnt"                     // is that folder inside
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "gctrail" { // as a command runs it
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestPrintedCommands runs each command that the documents print, but for those of elsewhere.
func TestPrintedCommands(t *testing.T) {
	if folder := os.Getenv(inWorld); folder != "" {
		if err := enter(folder); err != nil {
			fmt.Println(noWorld + err.Error())
			t.SkipNow()
		}
		runAll(t)
		return
	}
	extent.Long(t, "runs each command of the documents, many of them on .NET processes")
	folder := prepare(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestPrintedCommands$", "-test.parallel=8", "-test.timeout=12m", fmt.Sprintf("-test.v=%t", testing.Verbose()))
	cmd.Env = append(os.Environ(), inWorld+"="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL,
	}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	said, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Skip("no namespaces can be made here: ", err)
	}
	if _, why, without := strings.Cut(string(said), noWorld); without {
		t.Skip(noWorld, why)
	}
	t.Logf("%s", said)
	if err != nil {
		t.Error(err)
	}
}

// prepare makes the folder of the world.
func prepare(t *testing.T) string {
	t.Helper()
	lab := dotnettest.Lab(t)
	folder := t.TempDir()
	for _, name := range []string{"app", "bin", "dotnet", "repo", "runtime", "scratch", "tmp"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"dotnet": filepath.Dir(lab[1]), "runtime": filepath.Dir(lab[0])} {
		if err := os.WriteFile(filepath.Join(folder, name+".path"), []byte(target), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(folder, "app"), os.DirFS("app")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bin", "gctrail"), nil, 0o777); err != nil { // this program is mounted on it
		t.Fatal(err)
	}
	for name, script := range programsOfWorld {
		if err := os.WriteFile(filepath.Join(folder, "bin", name), []byte("#!/bin/bash\n"+script+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A mount is made when the world is entered; targets are below its folder unless they are absolute.
type mount struct {
	from, to, kind string
	flags          uintptr
	data           string
}

// enter makes the namespaces of this process the world.
func enter(folder string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	mounts := []mount{
		{to: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{from: self, to: "bin/gctrail", flags: unix.MS_BIND},
		{from: "proc", to: "/proc", kind: "proc"},
		{from: root, to: "repo", flags: unix.MS_BIND | unix.MS_REC},
		{from: fileOf(folder, "dotnet.path"), to: "dotnet", flags: unix.MS_BIND},
		{from: fileOf(folder, "runtime.path"), to: "runtime", flags: unix.MS_BIND},
		{from: "tmpfs", to: "scratch", kind: "tmpfs"},
		{from: "tmpfs", to: "/run", kind: "tmpfs"},
		{from: "tmpfs", to: "/dev/shm", kind: "tmpfs"},
		{from: folder, to: mounted, flags: unix.MS_BIND | unix.MS_REC},
		{from: filepath.Join(folder, "tmp"), to: "/tmp", flags: unix.MS_BIND},
	}
	for _, m := range mounts {
		to := m.to
		if !filepath.IsAbs(to) {
			to = filepath.Join(folder, to)
		}
		if err := unix.Mount(m.from, to, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("%s on %s: %w", m.from, m.to, err)
		}
	}
	if err := overlay("/etc", "/etc"); err != nil {
		return err
	}
	if err := overlay("/var/lib", "/var/lib"); err != nil {
		return err
	}
	for _, dir := range []string{"/etc/gctrail", "/run/gctrail", "/run/lock"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	const hosts = "127.0.0.1 localhost HOSTNAME clickhouse collector device.local pyroscope relay\n"
	return errors.Join(os.WriteFile("/etc/hosts", []byte(hosts), 0o644), unix.Sethostname([]byte("HOSTNAME")), loopback())
}

func fileOf(folder, name string) string {
	text, _ := os.ReadFile(filepath.Join(folder, name)) // what cannot be read cannot be mounted
	return string(text)
}

// overlay mounts a folder at another one, in which everything can be written and nothing written
// reaches the folder.
func overlay(folder, at string) error {
	layers, err := os.MkdirTemp(filepath.Join(mounted, "scratch"), "")
	if err != nil {
		return err
	}
	upper, work := filepath.Join(layers, "upper"), filepath.Join(layers, "work")
	for _, dir := range []string{upper, work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("overlay", at, "overlay", 0, "lowerdir="+folder+",upperdir="+upper+",workdir="+work); err != nil {
		return fmt.Errorf("overlay on %s: %w", at, err)
	}
	return nil
}

// loopback switches the loopback of the thread's network on.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, ifr)
}

// ownNetwork gives the goroutine a network of its own, in which the programs that it starts and
// the addresses at which it listens are. Its thread ends with it.
func ownNetwork(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := errors.Join(unix.Unshare(unix.CLONE_NEWNET), loopback()); err != nil {
		t.Fatal(err)
	}
}
