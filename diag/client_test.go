package diag

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestInfo reads the answers of runtimes of all ages; old ones leave fields out.
func TestInfo(t *testing.T) {
	cookie := Cookie{1, 2, 3, 15: 16}
	old := append(fields{}.u64(7), cookie[:]...).str("/app/web --x").str("Linux").str("x64")
	newer := append(fields{}, old...).str("web").str("10.0.12+abcdef")
	newest := append(fields{}.u32(1), newer...).str("linux-x64").str("from the future")
	want := Info{PID: 7, Cookie: cookie, CommandLine: "/app/web --x", OS: "Linux", Arch: "x64"}
	for _, test := range []struct {
		knows  command
		answer fields
	}{{cmdProcessInfo, old}, {cmdProcessInfo2, newer}, {cmdProcessInfo3, newest}} {
		if test.knows >= cmdProcessInfo2 {
			want.EntryAssembly, want.RuntimeVersion = "web", "10.0.12"
		}
		if test.knows == cmdProcessInfo3 {
			want.RID = "linux-x64"
		}
		f := newFake(t, func(cmd command, _ []byte) []byte {
			if cmd > test.knows {
				return refuse(UnknownCommand)
			}
			return ok(test.answer)
		})
		got, err := f.client().Info(context.Background())
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%v: %+v, %v, want %+v", test.knows, got, err, want)
		}
		for n := range test.answer {
			if test.knows == cmdProcessInfo3 && n >= len(test.answer)-len(fields{}.str("from the future")) {
				break
			}
			f := newFake(t, func(cmd command, _ []byte) []byte {
				if cmd > test.knows {
					return refuse(UnknownCommand)
				}
				return ok(test.answer[:n])
			})
			if _, err := f.client().Info(context.Background()); !errors.Is(err, ErrProtocol) {
				t.Errorf("%v cut at %d: %v", test.knows, n, err)
			}
		}
	}
}

func TestName(t *testing.T) {
	for _, test := range []struct{ line, assembly, want string }{
		{"/app/web --x", "web", "web"},
		{`"C:\Program Files\App\Web.exe" -v`, "Web", "Web"},
		{"dotnet /app/shop.dll", "shop", "shop"},
		{"/usr/bin/dotnet", "", "dotnet"},
		{"", "shop", "shop"},
		{"", "", ""},
		{"/app/" + strings.Repeat("x", 15_000), "", strings.Repeat("x", 255)},
		{"dotnet", strings.Repeat("é", 15_000), strings.Repeat("é", 127)},
	} {
		if got := (&Info{CommandLine: test.line, EntryAssembly: test.assembly}).Name(); got != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	env := fields{}.u32(2).str("A=1").str("B=é")
	respond := func(answer []byte) *Client {
		return newFake(t, func(command, []byte) []byte { return answer }).client()
	}
	got, err := respond(append(ok(fields{}.u32(uint32(len(env))).u16(0)), env...)).Environment(context.Background())
	if err != nil || !reflect.DeepEqual(got, []string{"A=1", "B=é"}) {
		t.Errorf("%q, %v", got, err)
	}
	for n := range env { // cut, with a size that says so and with one that does not
		told := append(ok(fields{}.u32(uint32(n)).u16(0)), env[:n]...)
		if _, err := respond(told).Environment(context.Background()); !errors.Is(err, ErrProtocol) && n > 3 {
			t.Errorf("cut at %d: %v", n, err)
		}
		untold := append(ok(fields{}.u32(uint32(len(env))).u16(0)), env[:n]...)
		if _, err := respond(untold).Environment(context.Background()); !errors.Is(err, ErrHungUp) {
			t.Errorf("ends at %d: %v", n, err)
		}
	}
	if _, err := respond(ok(fields{}.u32(1 << 30).u16(0))).Environment(context.Background()); !errors.Is(err, ErrProtocol) {
		t.Errorf("a gigabyte: %v", err)
	}
	huge := append(ok(fields{}.u32(4).u16(0)), fields{}.u32(1<<31)...)
	if _, err := respond(huge).Environment(context.Background()); !errors.Is(err, ErrProtocol) {
		t.Errorf("two thousand million variables: %v", err)
	}
}

// TestSmallCommands compares requests and answers byte by byte.
func TestSmallCommands(t *testing.T) {
	for _, test := range []struct {
		cmd  command
		send func(context.Context, *Client) error
		want fields
	}{
		{cmdResumeRuntime, func(ctx context.Context, c *Client) error { return c.Resume(ctx) }, nil},
		{cmdSetEnvironment, func(ctx context.Context, c *Client) error { return c.SetEnvironment(ctx, "A", "") }, fields{}.str("A").u32(0)},
		{cmdEnablePerfMap, func(ctx context.Context, c *Client) error { return c.EnablePerfMap(ctx, PerfMapOnly) }, fields{}.u32(3)},
		{cmdDisablePerfMap, func(ctx context.Context, c *Client) error { return c.DisablePerfMap(ctx) }, nil},
	} {
		for _, answer := range [][]byte{ok(nil), ok(fields{}.u32(0)), ok(fields{}.u32(0x80070057)), refuse(InvalidArgument)} {
			f := newFake(t, func(cmd command, payload []byte) []byte {
				if cmd != test.cmd || string(payload) != string(test.want) {
					t.Errorf("%v %x, want %v %x", cmd, payload, test.cmd, test.want)
				}
				return answer
			})
			err := test.send(context.Background(), f.client())
			failed := len(answer) > headerSize+3 && answer[headerSize] == 0x57 && test.cmd != cmdResumeRuntime || answer[16] == 0xff && answer[17] == 0xff
			if failed != errors.Is(err, InvalidArgument) || !failed && err != nil {
				t.Errorf("%v, answer %x: %v", test.cmd, answer, err)
			}
		}
	}
}

// TestBadAnswers: a command ends in time with an error that names the fault, whatever the
// other end sends.
func TestBadAnswers(t *testing.T) {
	answer := ok(fields{}.u64(1))
	for _, test := range []struct {
		name   string
		answer func(net.Conn)
		is     error
		text   string
		takes  time.Duration
	}{
		{"silent", func(c net.Conn) { io.Copy(io.Discard, c) }, ErrNoAnswer, "ResumeRuntime: timed out waiting for an answer", defaultTimeout},
		{"closes", func(net.Conn) {}, ErrHungUp, "ResumeRuntime: the connection closed before an answer arrived", 0},
		{"half", func(c net.Conn) { c.Write(answer[:10]) }, ErrHungUp, "ResumeRuntime: the connection closed before an answer arrived", 0},
		{"half a payload", func(c net.Conn) { c.Write(answer[:22]) }, ErrHungUp, "ResumeRuntime: the connection closed before an answer arrived", 0},
		{"a byte a second", func(c net.Conn) { byteByByte(c, answer, time.Second) }, ErrNoAnswer, "ResumeRuntime: timed out waiting for an answer", defaultTimeout},
		{
			"garbage", func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, ErrProtocol,
			"ResumeRuntime: the answer is not that of a .NET runtime: it begins with 485454502f312e31203430302042616420526571", 0,
		},
		{"too small", func(c net.Conn) { c.Write(append(fields("DOTNET_IPC_V1\x00").u16(19), 0xff, 0, 0, 0)) }, ErrProtocol, "", 0},
		{"a command", func(c net.Conn) { c.Write(fields{}.message(0x0401)) }, ErrProtocol, "", 0},
		{"an error without a number", func(c net.Conn) { c.Write(fields{}.u16(1).message(0xffff)) }, ErrProtocol, "", 0},
		{
			"refused", func(c net.Conn) { c.Write(refuse(UnknownCommand)) }, UnknownCommand,
			"ResumeRuntime: the runtime answers unknown command (0x80131385)", 0,
		},
		{
			"refused by a number", func(c net.Conn) { c.Write(refuse(0x8000ffff)) }, HRESULT(0x8000ffff),
			"ResumeRuntime: the runtime answers error 0x8000ffff", 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, respond: func(_ command, _ []byte, c net.Conn) { test.answer(c) }}
				start := time.Now()
				err := f.client().Resume(context.Background())
				if !errors.Is(err, test.is) || test.text != "" && err.Error() != test.text {
					t.Errorf("%v, want %s", err, test.text)
				}
				if took := time.Since(start); took != test.takes {
					t.Errorf("took %v, want %v", took, test.takes)
				}
				f.busy.Wait()
			})
		})
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(command, []byte) []byte { return nil })
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		if err := f.client().Resume(ctx); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		f.busy.Wait()
	})
}

func TestRemedies(t *testing.T) {
	denied := "run gctrail as the user of that process, or as root"
	if os.Geteuid() == 0 {
		denied = "root in a container needs the capability SYS_PTRACE, as in docker run --cap-add SYS_PTRACE"
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&RuntimeError{"CollectTracing2", Fail}, "a runtime allows at most 64 sessions: end another one"},
		{&RuntimeError{"X", 5}, ""},
		{ErrNoAnswer, "it is stopped or busy, or another tool holds its socket: try again"},
		{&ConnectError{"/x", net.ErrClosed}, ""},
		{&ConnectError{"/x", fs.ErrPermission}, denied},
	} {
		if got := Remedy(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}
