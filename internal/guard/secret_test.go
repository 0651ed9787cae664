package guard

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for mode, readable := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o644: false, 0o620: false, 0o601: false,
	} {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte("\n0123456789abcdef \n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSecret(path)
		switch {
		case readable || runtime.GOOS == "windows":
			if got != "0123456789abcdef" || err != nil {
				t.Errorf("mode %o: %q, %v", mode, got, err)
			}
		case err == nil || got != "" || !strings.Contains(err.Error(), "chmod 600 "+path):
			t.Errorf("mode %o: %q, %v", mode, got, err)
		}
	}
}

// TestBehindLink checks the mode of the file that is read, not that of the link to it:
// Kubernetes mounts secrets behind links.
func TestBehindLink(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "token"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, []byte("0123456789abcdef"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(link); err != nil {
		t.Skip("this system makes links that it does not follow: ", err)
	}
	if got, err := ReadSecret(link); got != "0123456789abcdef" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, make([]byte, maxSecret+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(path); err == nil {
		t.Error("no error")
	}
	if _, err := ReadSecret(path + "-none"); !os.IsNotExist(err) {
		t.Error(err)
	}
}
