package open

import (
	"bufio"
	"fmt"
	"io"
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
	s, n, err := spool(strings.NewReader("some bytes"), 10, "it")
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

	_, _, err = spool(strings.NewReader(strings.Repeat("x", 2<<20)), 1<<20, "a zip")
	want := "a zip takes more than the 1 MiB that are set aside for it: unpack it and give the file"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if left != nil || err != nil {
		t.Errorf("%v stays behind, %v", left, err)
	}
}

// TestSpoolKilled checks that nothing stays behind of a program that is killed.
func TestSpoolKilled(t *testing.T) {
	const child = "GCTRAIL_TEST_SPOOLS"
	if os.Getenv(child) != "" {
		_, n, err := spool(strings.NewReader("some bytes"), 10, "it")
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
	_ = c.Wait() // which tells that it was killed
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if left != nil || err != nil {
		t.Errorf("%v stays behind, %v", left, err)
	}
}
