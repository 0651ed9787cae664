//go:build linux

package cli

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// recordings are the ways in which collect writes a trace.
var recordings = map[string][]string{"file": nil, "ring": {"--keep", "10m"}}

// TestEarlierRecording: collect leaves an earlier file until the new trace can be read.
func TestEarlierRecording(t *testing.T) {
	kills := extent.Pick(1, 3, 200)
	for name, args := range recordings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			earlierRecording(t, args, kills)
		})
	}
}

// A recorder records from a runtime of the test to a path.
type recorder struct {
	t    *testing.T
	args []string // of collect
	path string
}

const earlierText = "earlier"

// earlierRecording tries a way to record.
func earlierRecording(t *testing.T, args []string, kills int) {
	trace := webBytes(t)
	serve := slowly(trace)
	r := recorder{t, args, filepath.Join(t.TempDir(), "web.nettrace")}
	r.putEarlier()
	code, took, said := r.record(serve, nil)
	if b, err := os.ReadFile(r.path); err != nil || code != exitDone || dotnettest.Whole(b) < len(trace)/2 {
		t.Fatalf("exit code %d, %d bytes, %v: %s", code, len(b), err, said)
	}
	for what, failing := range map[string]func(uint16, net.Conn){
		"an HTTP server": begins([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")),
		"an end":         func(uint16, net.Conn) {},
	} {
		r.putEarlier()
		r.mustFail(what+" for a runtime", failing)
	}
	for range kills {
		r.putEarlier()
		at := time.Duration(rand.Int64N(int64(took) + 1))
		r.record(serve, func(c *collecting) { killAfter(c.Cmd, at) })
		if b, err := os.ReadFile(r.path); err != nil || string(b) != earlierText && dotnettest.Whole(b) == 0 {
			t.Errorf("killed after %v: %d bytes, %v", at, len(b), err)
		}
	}
	if code, _, said := r.record(serve, nil); code != exitDone {
		t.Errorf("the next recording: exit code %d: %s", code, said)
	}
	for _, e := range mustRead(t, filepath.Dir(r.path)) {
		// Segments remain of recordings that were killed.
		if e.Name() != filepath.Base(r.path) && !strings.Contains(e.Name(), ".ring-") {
			t.Errorf("%s is left", e.Name())
		}
	}
	r.path = fullDisk(t)
	r.putEarlier()
	pad(t, filepath.Dir(r.path))
	r.mustFail("a full disk", serve)
}

func (r *recorder) putEarlier() {
	r.t.Helper()
	if err := os.WriteFile(r.path, []byte(earlierText), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// mustFail records, which must fail and leave the earlier file.
func (r *recorder) mustFail(what string, serve func(uint16, net.Conn)) {
	r.t.Helper()
	code, _, said := r.record(serve, nil)
	if b, err := os.ReadFile(r.path); code == exitDone || string(b) != earlierText {
		r.t.Errorf("%s: exit code %d, %d bytes, %v: %s", what, code, len(b), err, said)
	}
}

// record runs collect, and running meanwhile, if that is not nil. It returns the exit
// code, how long collect ran and what it said.
func (r *recorder) record(serve func(uint16, net.Conn), running func(c *collecting)) (code int, took time.Duration, said string) {
	r.t.Helper()
	c := newCollecting(patient(r.t), r.t, append([]string{"-p", strconv.Itoa(os.Getpid()), "-o", r.path}, r.args...)...)
	c.Env = append(os.Environ(), impostor(r.t, serve))
	began := time.Now()
	c.start()
	if running != nil {
		running(c)
	}
	_ = c.Wait() // only its code counts
	return c.ProcessState.ExitCode(), time.Since(began), c.talk.String()
}

// fullDisk returns the path of a trace on a disk that has room for one small file.
func fullDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no disk can be mounted: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return filepath.Join(dir, "web.nettrace")
}

// pad fills the disk of a folder with a file.
func pad(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "padding")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return path
}

// slowly answers like a runtime that sends its trace in parts, with pauses between them.
func slowly(trace []byte) func(uint16, net.Conn) {
	const parts = 20
	return func(command uint16, c net.Conn) {
		begins(trace[:len(trace)/parts])(command, c)
		if command != collectTracing2 {
			return
		}
		slow := dotnettest.SlowWriter{W: c, Pause: 10 * time.Millisecond}
		for i := range parts - 1 {
			if _, err := slow.Write(trace[len(trace)*(i+1)/parts : len(trace)*(i+2)/parts]); err != nil {
				return
			}
		}
	}
}
