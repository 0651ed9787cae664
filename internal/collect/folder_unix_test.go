//go:build !windows

package collect

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestPortFolderKilled: the folder of a process that was killed is removed by the next
// one, and nothing else.
func TestPortFolderKilled(t *testing.T) {
	const child = "GCTRAIL_TEST_PORT_FOLDER"
	if parent := os.Getenv(child); parent != "" {
		folder, err := newPortFolder(parent)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", filepath.Join(folder.path, portSocket))
		fmt.Println(filepath.Base(folder.path), err)
		_, _ = os.Stdin.Read(make([]byte, 1))
		t.Fatal("not killed", l)
	}
	parent, err := os.MkdirTemp("", "g") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(parent)
	other := filepath.Join(parent, portFolders+"other")
	link := filepath.Join(parent, portFolders+"link")
	for _, name := range []string{other, filepath.Join(parent, "linked"), filepath.Join(parent, "gctrail-top-1")} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(parent, "linked", portSocket), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("linked", link); err != nil {
		t.Fatal(err)
	}

	c := exec.Command(os.Args[0], "-test.run=^TestPortFolderKilled$")
	c.Env = append(os.Environ(), child+"="+parent)
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
	var killed, listens string
	if _, err := fmt.Fscan(bufio.NewReader(out), &killed, &listens); err != nil || listens != "<nil>" {
		t.Errorf("%q %q, %v", killed, listens, err)
	}
	stay := []string{filepath.Base(other), filepath.Base(link), "gctrail-top-1", "linked"}
	own, err := newPortFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := filesIn(t, parent), append(stay, killed, filepath.Base(own.path)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("while it runs: %q, want %q", got, want)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // fails, because it was killed
	again, err := newPortFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := filesIn(t, parent), append(stay, filepath.Base(own.path), filepath.Base(again.path)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("after it was killed: %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(parent, "linked", portSocket)); err != nil {
		t.Errorf("behind a symbolic link: %v", err)
	}
	own.remove()
	again.remove()
	if got := filesIn(t, parent); !slices.Equal(got, slices.Sorted(slices.Values(stay))) {
		t.Errorf("in the end: %q, want %q", got, stay)
	}
}
