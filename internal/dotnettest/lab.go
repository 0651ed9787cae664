package dotnettest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Lab returns the command line of lab.dll, programs with known trouble, under .NET 10.
// The caller adds a mode, for how many seconds it runs, and an argument that some modes
// take.
func Lab(t testing.TB) []string {
	t.Helper()
	needsLinux(t)
	lab := find("lab.dll")
	if _, err := os.Stat(lab); err != nil {
		t.Skip("no .NET program is available: ", err)
	}
	host, err := unpacked()
	if err != nil {
		t.Skip("no .NET runtime is available: ", err)
	}
	return []string{host, lab}
}

// hosted returns the command line of an assembly under .NET 10, which has its folder among files
// to itself.
func hosted(t testing.TB, files fs.FS, name string) []string {
	t.Helper()
	host, dir := Lab(t)[0], t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return []string{host, filepath.Join(dir, name, name+".dll")}
}

// unpacked returns the path of dotnet in a folder for caches, where it unpacks the
// runtime unless an earlier test has.
var unpacked = sync.OnceValues(func() (string, error) {
	archive := find("dotnet10.tar.xz")
	info, err := os.Stat(archive)
	if err != nil {
		return "", err
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		caches = os.TempDir()
	}
	caches = filepath.Join(caches, "gctrail-test")
	folder := filepath.Join(caches, fmt.Sprintf("dotnet10-%d-%d", info.Size(), info.ModTime().Unix()))
	host := filepath.Join(folder, "dotnet", "dotnet")
	if _, err := os.Stat(host); err == nil {
		return host, nil
	}
	if err := os.MkdirAll(caches, 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(caches, "unpacking-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(made) }()
	if out, err := exec.Command("tar", "-xJf", archive, "-C", made).CombinedOutput(); err != nil {
		return "", fmt.Errorf("tar: %w: %s", err, out)
	}
	if err := os.Rename(made, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Stat(host); there != nil { // another test may have been faster
			return "", err
		}
	}
	return host, nil
})
