package browser

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// codeFiles returns a folder with a file of each format, and files that cannot be read.
func codeFiles(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	unpacked(t, "net10-wks-stacks.nettrace.gz", folder, "stacks.nettrace")
	unpacked(t, "net21-win-x86-objver3.netperf.gz", folder, "old.netperf")
	unpacked(t, "net8-wks-rich.gcdump.gz", folder, "heap.gcdump")
	for from, as := range map[string]string{
		"net8-win-x64-gcevents.etl.zip": "windows.etl.zip", "net31-net9-lttng.trace.zip": "linux.trace.zip",
		"net10-srv-web-1.nettrace.gz": "run1.nettrace.gz",
	} {
		data, err := os.ReadFile(fixture(from))
		if err != nil {
			t.Fatal(err)
		}
		write(t, folder, as, data)
	}
	write(t, folder, "windows.etl", member(t, filepath.Join(folder, "windows.etl.zip"), ".etl"))
	write(t, folder, "notes.nettrace", []byte("no trace\n"))
	write(t, folder, "empty.etl", nil)
	write(t, folder, "huge.nettrace", nil)
	if err := os.Truncate(filepath.Join(folder, "huge.nettrace"), 600<<20); err != nil {
		t.Fatal(err)
	}
	return folder
}

func write(t *testing.T, folder, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// member returns the file of an archive whose name ends so.
func member(t *testing.T, archive, suffix string) []byte {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, suffix) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	t.Fatalf("%s has no %s", archive, suffix)
	return nil
}

// verdict returns the program's verdict on a trace.
func verdict(t *testing.T, path string) string {
	t.Helper()
	var report struct{ Verdict string }
	if err := json.Unmarshal([]byte(reported(t, path)), &report); err != nil {
		t.Fatal(err)
	}
	return report.Verdict
}

// folderOf is the address of VS Code with a folder.
func folderOf(server, folder string) string {
	return server + "/?" + url.Values{"folder": {filepath.ToSlash(folder)}}.Encode()
}

// TestCodeOpens: VS Code opens files of each format with the packed extension, and shows what the
// program says of them. Files that it cannot read are refused in words.
func TestCodeOpens(t *testing.T) {
	folder := codeFiles(t)
	w := openFolder(t, folderOf(serveCode(t), folder))
	for _, name := range []string{"stacks.nettrace", "old.netperf", "windows.etl", "run1.nettrace.gz", "linux.trace.zip", "windows.etl.zip"} {
		w.open(name)
		w.wait(reportedIn(fmt.Sprintf(`d.body.textContent.includes(%q)`, verdict(t, filepath.Join(folder, name)))))
		w.shoot("code-" + name)
	}
	w.open("heap.gcdump")
	w.wait(reportedIn(`d.querySelectorAll(".of-types tbody tr").length > 10`))
	w.shoot("code-heap.gcdump")
	w.run("Toggle between Light/Dark Themes")
	w.wait(reportedIn(`d.documentElement.dataset.theme === "dark"`))
	for _, refused := range [][2]string{{"notes.nettrace", "not a trace"}, {"empty.etl", "empty"}, {"huge.nettrace", "at most 512 MB"}} {
		name, want := refused[0], refused[1]
		w.open(name)
		w.wait(viewed(fmt.Sprintf(`v.querySelector(".failure")?.textContent.includes(%q)`, want)))
		w.shoot("code-" + name)
	}
	w.blameless()
}
