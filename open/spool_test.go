package open

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	s, n, err := spool(nil, strings.NewReader("some bytes"), 10, "it")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(s, 0, n))
	if string(got) != "some bytes" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	_, _, err = spool(nil, strings.NewReader(strings.Repeat("x", 2<<20)), 1<<20, "a zip")
	want := "a zip takes more than the 1 MiB that are set aside for it: unpack it and give the file"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if left != nil || err != nil {
		t.Errorf("%v stays behind, %v", left, err)
	}
}

// TestSpoolKilled checks that a killed program leaves nothing behind.
func TestSpoolKilled(t *testing.T) {
	const child = "GCTRAIL_TEST_SPOOLS"
	if os.Getenv(child) != "" {
		_, n, err := spool(nil, strings.NewReader("some bytes"), 10, "it")
		fmt.Println("spooled:", n, err)
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestSpoolKilled$")
	c.Env = append(os.Environ(), child+"=1", "TMPDIR="+dir, "TMP="+dir)
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "spooled: 10 <nil>\n" {
		t.Errorf("%q, %v", line, err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // fails, because it was killed
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if left != nil || err != nil {
		t.Errorf("%v stays behind, %v", left, err)
	}
}

// TestSpooled: a trace from a stream is read as a file of its own, without files next to
// one of its name, and leaves none behind.
func TestSpooled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	f, err := os.Open("../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	t.Chdir(dir)
	if err := os.WriteFile("perf-3701.map", []byte("1000 10 method\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Spooled(f, "x.nettrace", 1<<20, Options{})
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if _, err := in.PerfMap(3701); !errors.Is(err, fs.ErrNotExist) || events == 0 || in.Compression != "gzip" {
		t.Errorf("%d events, %q, perf map: %v", events, in.Compression, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v stays behind, %v", left, err)
	}
	if _, err := Spooled(strings.NewReader(strings.Repeat("x", 100)), "x", 10, Options{}); err == nil {
		t.Error("more than the limit is taken")
	}
}
