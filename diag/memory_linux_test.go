package diag

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	rememberedSocket = "tmp/dotnet-diagnostic-5-100-socket"
	rememberedStat   = "proc/5/stat"
)

func (m *machine) list() []*Process { return ask(context.Background(), m.finder, m.find()) }

// answering starts a runtime at a socket that counts its queries.
func (m *machine) answering(path string, listener int, cookie byte) *fake {
	m.listeners[m.dir+"/"+path] = listener
	cookies := Cookie{cookie}
	info := append(fields{}.u32(1).u64(5), cookies[:]...).str("/app/web").str("Linux").str("x64").str("web").str("10.0.12").str("linux-x64")
	f := newFake(m.t, func(cmd command, _ []byte) []byte {
		if cmd == cmdProcessInfo3 {
			return ok(info)
		}
		return refuse(UnknownCommand)
	})
	serveAt(m.t, m.dir+"/"+path, f)
	return f
}

func (f *fake) questions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

func (m *machine) edit(path, old, replacement string) {
	b, err := os.ReadFile(m.dir + "/" + path)
	if err != nil || !strings.Contains(string(b), old) {
		m.t.Fatalf("%s: %q, %v", path, b, err)
	}
	m.write(path, strings.Replace(string(b), old, replacement, 1))
}

// expire makes the sighting of a process too old.
func (m *machine) expire(pid int) {
	m.memory.mu.Lock()
	defer m.memory.mu.Unlock()
	m.memory.sightings[pid].until = time.Now()
}

// TestRemember: a process that has answered is not queried again, unless anything that
// distinguishes it from another process has changed.
func TestRemember(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(m *machine)
		asked  bool
		want   string // the processes then
	}{
		{"the same", func(*machine) {}, false, "5 web 01 <nil>"},
		{"too old", func(m *machine) { m.expire(5) }, true, "5 web 01 <nil>"},
		{"stopped", func(m *machine) { m.edit(rememberedStat, ") S ", ") T ") }, true, "5 web 01 <nil>"},
		{"ended, and not waited for", func(m *machine) { m.edit(rememberedStat, ") S ", ") Z ") }, true, "5 web 01 <nil>"},
		{"another program in the same process", func(m *machine) { m.edit(rememberedStat, "(web)", "(api)") }, true, "5 web 01 <nil>"},
		{"gone", func(m *machine) { os.RemoveAll(m.dir + "/proc/5") }, false, ""},
		{"another process with its number", func(m *machine) {
			m.edit(rememberedStat, " 100 ", " 200 ")
			m.listeners[m.dir+"/"+rememberedSocket] = 0
		}, true, ""},
		{"another socket", func(m *machine) {
			os.Remove(m.dir + "/" + rememberedSocket)
			m.answering(rememberedSocket, 5, 2)
		}, false, "5 web 02 <nil>"},
		{"another process's socket", func(m *machine) {
			os.Remove(m.dir + "/" + rememberedSocket)
			m.answering(rememberedSocket, 6, 2)
		}, false, "5 web - untrusted"},
		{"a link for the socket", func(m *machine) {
			os.Rename(m.dir+"/"+rememberedSocket, m.dir+"/elsewhere")
			os.Symlink("../elsewhere", m.dir+"/"+rememberedSocket)
		}, false, "5 web - untrusted"},
		{"another user's socket", func(m *machine) { give(m.t, m.dir+"/"+rememberedSocket) }, false, "5 web - untrusted"},
		{"no socket", func(m *machine) { os.Remove(m.dir + "/" + rememberedSocket) }, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.run(5, 5, "100", "/app/web")
			runtime := m.answering(rememberedSocket, 5, 1)
			if all := m.list(); len(all) != 1 || all[0].Err != nil || all[0].Info == nil {
				t.Fatalf("at first: %+v", all)
			}
			before := runtime.questions()
			test.change(m)
			got := ""
			for _, p := range m.list() {
				if p.PID != 5 {
					continue // its remains
				}
				cookie, err := "-", fmt.Sprint(p.Err)
				if p.Info != nil {
					cookie = p.Info.Cookie.String()[:2]
				}
				if untrusted(p.Err) {
					err = "untrusted"
				}
				got = fmt.Sprintf("%d %s %s %s", p.PID, p.Name, cookie, err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if asked := runtime.questions() > before; asked != test.asked {
				t.Errorf("asked again: %v", asked)
			}
		})
	}
}

// TestConnectIsChecked: a remembered process is checked again when a connection is made.
func TestConnectIsChecked(t *testing.T) {
	m := newMachine(t)
	m.run(5, 5, "100", "/app/web")
	m.answering(rememberedSocket, 5, 1)
	m.list()
	p := m.list()[0]
	m.listeners[m.dir+"/"+rememberedSocket] = 6
	if _, err := p.Client().Info(context.Background()); !untrusted(err) {
		t.Errorf("connected to another process: %v", err)
	}
	m.edit(rememberedStat, " 100 ", " 200 ")
	if _, err := p.Client().Info(context.Background()); !errors.Is(err, ErrNoProcess) {
		t.Errorf("connected to a process that has ended: %v", err)
	}
}

// TestRememberForeign: a process without .NET is examined again when a socket with its
// number appears, or after a while.
func TestRememberForeign(t *testing.T) {
	m := newMachine(t)
	m.run(5, 5, "100", "/app/web")
	m.run(20, 7, "200", "/app/contained")
	if all := m.list(); len(all) != 0 {
		t.Fatalf("%+v", all)
	}
	m.answering(rememberedSocket, 5, 1)
	m.runtime("proc/20/root/tmp/dotnet-diagnostic-7-200-socket", 7, 20)
	if all := m.list(); len(all) != 1 || all[0].PID != 5 || all[0].Info == nil {
		t.Errorf("with a socket: %+v", all)
	}
	m.expire(20)
	if all := m.list(); len(all) != 2 || all[1].PID != 20 || all[1].Info == nil {
		t.Errorf("after a while: %+v", all)
	}
	os.RemoveAll(m.dir + "/proc/20")
	m.list()
	if n := len(m.memory.sightings); n != 1 {
		t.Errorf("%d processes are remembered, of 1", n)
	}
}

// TestRememberDead: an old socket that refuses connections is left alone until another
// one takes its place.
func TestRememberDead(t *testing.T) {
	m := newMachine(t)
	staleSocket(t, m.dir+"/"+rememberedSocket)
	if all := m.list(); len(all) != 0 || len(m.memory.dead) != 0 {
		t.Fatalf("a new socket: %v, %d are dead", all, len(m.memory.dead))
	}
	p := m.find()[0]
	m.remember([]*Process{{stale: true, Err: syscall.ECONNREFUSED, sighting: p.sighting}})
	if len(m.memory.dead) != 0 {
		t.Error("a new socket is dead")
	}
	old := *p.sighting
	old.socket.changed.Sec -= int64(settled/time.Second) + 1
	m.remember([]*Process{{stale: true, Err: syscall.ECONNREFUSED, sighting: &old}})
	if !m.memory.buried(old.socket) {
		t.Error("an old socket is not dead")
	}
	m.memory.dead[p.sighting.socket] = true
	if all := m.find(); len(all) != 0 {
		t.Errorf("a dead socket: %+v", all[0])
	}
	if len(m.memory.dead) != 1 {
		t.Errorf("%d sockets are remembered, of 1", len(m.memory.dead))
	}
	os.Remove(m.dir + "/" + rememberedSocket)
	m.runtime(rememberedSocket, 5, 0)
	if all := m.list(); len(all) != 1 || all[0].Info == nil {
		t.Errorf("another socket: %+v", all)
	}
}
