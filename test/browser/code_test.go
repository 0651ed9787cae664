package browser

import (
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// codeFiles returns a folder with a file of each format, files that cannot be read, and source.
func codeFiles(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	unpacked(t, "net10-wks-stacks.nettrace.gz", folder, "stacks.nettrace")
	unpacked(t, "net21-win-x86-objver3.netperf.gz", folder, "old.netperf")
	unpacked(t, "net8-wks-rich.gcdump.gz", folder, "heap.gcdump")
	for from, as := range map[string]string{
		"net8-win-x64-gcevents.etl.zip": "windows.etl.zip", "net31-net9-lttng.trace.zip": "linux.trace.zip",
		"net10-srv-web-1.nettrace.gz": "run1.nettrace.gz", "net10-srv-web-2.nettrace.gz": "run2.nettrace.gz",
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
	write(t, folder, "GcLoad.cs", []byte(source))
	return folder
}

// source has the type and a method that net10-wks-stacks.nettrace.gz has most of.
const source = `static class GcLoad
{
    sealed record OrderLine(int Id, string Name);

    static void Web(int seconds) { }
}
`

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

// unpacked writes a file of testdata to a folder without its gzip.
func unpacked(t *testing.T, name, folder, as string) string {
	t.Helper()
	in, err := os.Open(fixture(name))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, as)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
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

// TestCode: VS Code with the packed extension and the program opens and compares traces, keeps
// what is made of them, and records and watches processes. One window has all, because VS Code takes
// seconds to start.
func TestCode(t *testing.T) {
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	folder, bin := codeFiles(t), t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "gctrail")); err != nil {
		t.Fatal(err)
	}
	server := serveCode(t, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w := openFolder(t, folderOf(server, folder))
	w.step("opens", func() { w.opens(folder) })
	w.step("refuses", w.refuses)
	w.step("compares", w.compares)
	w.step("compares chosen files", func() { w.comparesChosen(folder) })
	w.step("saves", func() { w.saves(folder) })
	w.step("redacts", func() { w.redacts(folder) })
	w.step("source", func() {
		searches(w.T)
		w.leads()
	})
	w.step("keyboard", w.keyboard)
	w.step("looks", w.looks)
	w.step("watches", w.watches)
	w.step("records", func() { w.records(folder) })
	w.blameless()
}

// opens opens files of each format, which are shown with what the program says of them.
func (w *workbench) opens(folder string) {
	for _, name := range []string{"stacks.nettrace", "old.netperf", "windows.etl", "run1.nettrace.gz", "linux.trace.zip", "windows.etl.zip"} {
		w.open(name)
		w.wait(reportedIn(fmt.Sprintf(`d.body.textContent.includes(%q)`, verdict(w.T, filepath.Join(folder, name)))))
		w.shoot("code-" + name)
	}
	w.open("heap.gcdump")
	w.wait(reportedIn(`d.querySelectorAll(".of-types tbody tr").length > 10`))
	w.shoot("code-heap.gcdump")
}

// refuses opens files that cannot be read: the reason is shown in words.
func (w *workbench) refuses() {
	for _, refused := range [][2]string{{"notes.nettrace", "not a trace"}, {"empty.etl", "empty"}, {"huge.nettrace", "at most 512 MB"}} {
		name, want := refused[0], refused[1]
		w.open(name)
		w.wait(viewed(fmt.Sprintf(`v.querySelector(".failure")?.textContent.includes(%q)`, want)))
		w.shoot("code-" + name)
	}
}
