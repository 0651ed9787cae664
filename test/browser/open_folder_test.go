package browser

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestOpenFolder: a folder's list describes its traces, an LTTng trace is read where it
// lies, and the list is still there after a trace was shown.
func TestOpenFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{trace, "net8-wks-rich.gcdump.gz"} {
		data, err := os.ReadFile(fixture(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unzip(t, fixture("net31-net9-lttng.trace.zip"), filepath.Join(dir, "lttng"))
	// The parts of an ETW trace, a perf map, and symbols, which are not read.
	etw, kernel := tracetest.NewETL(), tracetest.NewETL()
	kernel.Header.Time, kernel.Header.Start = kernel.Header.Time+2, kernel.Header.Start+2 // each session's first event is its own
	etw.Buffer(0).Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: etw.Header.Time + 10, PID: 1, TID: 2, Provider: tracetest.RuntimeGUID, ID: 1, Version: 2, Payload: make([]byte, 26)})
	kernel.Buffer(0).Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: kernel.Header.Time + 20, PID: 1, TID: 2, Provider: tracetest.RuntimeGUID, ID: 2, Version: 1, Payload: make([]byte, 10)})
	for name, text := range map[string]string{
		"damaged.nettrace": "no trace", "notes.txt": "", "app.etl": string(etw.Bytes()), "app.kernel.etl": string(kernel.Bytes()), "perf-8.map": "1 1 a", "app.pdb": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	b.must2(chromedp.Run(b.ctx, chromedp.SetUploadFiles(chromedp.CSS(".drop input:not([multiple])"), []string{dir})))
	b.wait(`document.querySelectorAll("tbody tr").length === 5 && !document.querySelector("tbody").textContent.includes("Reading")`)
	rows := eval[[]string](b, `[...document.querySelectorAll("tbody tr")].map((e) => e.textContent)`)
	for i, want := range []string{"read together with app.kernel.etl; perf-8.map", "not a trace", "dotnet and 1 more", "Heap snapshot", "perf-8.map"} {
		if !strings.Contains(rows[i], want) {
			t.Errorf("%q does not say %s", rows[i], want)
		}
	}
	if said := eval[string](b, `document.querySelector("[aria-labelledby=folder-title]").textContent`); !strings.Contains(said, "1 other file is not listed") || !strings.Contains(said, "1 file of symbols, such as .pdb, is not read") {
		t.Error(said)
	}
	b.settle()
	b.shoot("open-folder")
	b.press("lttng")
	b.wait(framed("true"))
	packed, given := b.save("csv"), filepath.Join(t.TempDir(), "out")
	gctrail(t, "convert", "--to", "csv", "-o", given, filepath.Join(dir, "lttng"))
	want, err := os.ReadFile(given)
	if err != nil || packed != string(want) {
		t.Error(err, firstDifference(packed, string(want)))
	}
	b.press("Open another")
	b.wait(`document.querySelectorAll("tbody tr").length === 5`)
	b.press("app.etl")
	b.wait(framed(`d.querySelector(".evidence")?.textContent.includes("Files beside the trace: read together with app.kernel.etl")`))
	b.own(server.URL)
}

// TestOpenDropped: a trace that is dropped on the page is shown, and of a folder its traces are listed.
func TestOpenDropped(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "traces")
	for _, name := range []string{trace, "net8-wks-rich.gcdump.gz"} {
		data, err := os.ReadFile(fixture(name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, data)
	}
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	b.drop(".drop", filepath.Join(dir, trace))
	b.wait(framed("true"))
	b.press("Open another")
	b.wait(`document.querySelector(".drop")`)
	b.drop(".drop", dir)
	b.wait(`document.querySelectorAll("tbody tr").length === 2 && !document.querySelector("tbody").textContent.includes("Reading")`)
	if got := eval[string](b, `document.querySelector("tbody").textContent`); !strings.Contains(got, "Heap snapshot: 15,833 objects") {
		t.Errorf("the list says %q", got)
	}
	b.own(server.URL)
}

// unzip unpacks an archive.
func unzip(t *testing.T, path, dir string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
}

// TestOpenPart: a page of a part of a trace has what gctrail has of it, and says so of none.
func TestOpenPart(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	path := fixture(trace)
	b.shows(path)
	set := func(name, value string) {
		eval[bool](b, fmt.Sprintf(`((i) => { i.value = %q; i.dispatchEvent(new Event("input")); return true; })(
			[...document.querySelectorAll(".part label")].find((e) => e.textContent.startsWith(%q)).querySelector("input"))`, value, name))
	}
	set("from", "1s")
	set("to", "2s")
	b.press("Read this part")
	b.wait(`document.querySelector(".shown summary + form") && [...document.querySelectorAll("summary")].some((e) => e.textContent === "Part: from 1s, to 2s")`)
	b.wait(framed("true"))
	program, err := binary()
	b.must(err)
	cmd := exec.Command(program, "report", "--format", "json", "--full", "--from", "1s", "--to", "2s", filepath.Base(path))
	cmd.Dir = filepath.Dir(path)
	want, err := cmd.Output()
	b.must(err)
	if got := b.save("report"); got != string(want) {
		t.Error(firstDifference(got, string(want)))
	}
	set("process", "other*")
	b.press("Read this part")
	b.wait(`/no process matches: the trace has/.test(document.querySelector(".failure")?.textContent)`)
	b.own(server.URL)
}

// TestOpenServed: gctrail serve hands the page out, which then asks for nothing but its files.
func TestOpenServed(t *testing.T) {
	t.Parallel()
	dir, err := webpage()
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t, nil, "--open", "no", "--web", dir, fixture(trace), fixture("net10-wks-stacks.nettrace.gz"))
	list := newTab(t, size{1280, 900})
	list.open(address)
	list.wait(`document.querySelector("a[href='open/']")`)
	server, _, _ := strings.Cut(address, "/?")
	b := openTab(t, size{1280, 900}, server+"/open/")
	path := fixture("net10-wks-stacks.nettrace.gz")
	b.shows(path)
	if want, got := reported(t, path), b.save("report"); got != want {
		t.Error(firstDifference(got, want))
	}
	b.own(server + "/open")
}
