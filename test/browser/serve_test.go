package browser

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// serve runs gctrail serve until the test ends, and returns the address that it
// prints.
func serve(t *testing.T, env []string, args ...string) string {
	t.Helper()
	address, _ := serving(t, env, args...)
	return address
}

// serving is like serve, but also returns the command.
func serving(t *testing.T, env []string, args ...string) (string, *exec.Cmd) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			t.Errorf("gctrail serve: %v: %s", err, said.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("gctrail serve prints no address: %v: %s", err, said.String())
	}
	return strings.TrimSpace(line), cmd
}

// within fails the test where the page did what it must not do, or asked another
// server than its own.
func (b *tab) within(address string) {
	b.Helper()
	if violations := eval[[]string](b, "violations"); len(violations) > 0 {
		b.Errorf("violations of the policy: %q", violations)
	}
	own, err := url.Parse(address)
	b.must(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		b.Errorf("%q", b.faults)
	}
	for _, request := range b.requests {
		_, target, _ := strings.Cut(request, " ")
		if to, err := url.Parse(target); err != nil || to.Scheme+to.Host != own.Scheme+own.Host {
			b.Errorf("a request to another server: %s", request)
		}
	}
}

// TestServeFiles: the page of a served trace shows what the page as a file does, and
// its details and allocations.
func TestServeFiles(t *testing.T) {
	t.Parallel()
	address := serve(t, nil, "--open", "no", fixture("net10-wks-stacks.nettrace.gz"), fixture(trace))
	b := newTab(t, size{1280, 900})
	b.open(address)
	b.wait(`document.querySelectorAll(".home tbody button").length === 2`)
	b.click(".home tbody tr:nth-child(2) button") // they are in the order of their names
	b.wait(`document.querySelector(".flame canvas")`)
	b.click(".grid .rows .row:nth-child(2)")
	b.wait(`/Marking, by root/.test(document.querySelector(".details")?.textContent)`)
	b.key(kb.Escape)
	b.click(".brand")
	b.wait(`document.querySelectorAll(".home tbody button").length === 2`)
	b.focus(".home tbody tr:nth-child(1) button")
	b.key(kb.Enter)
	b.wait(`document.querySelector(".findings details")`)
	eval[bool](b, `document.querySelectorAll(".findings details").forEach((e) => (e.open = true)) ?? true`)
	show, quotes := b.quoted()
	b.click(show)
	b.wait(fmt.Sprintf(`document.querySelector(".status b").textContent.replace(",", "") === "%d"`, quotes))
	b.within(address)
}

// TestServeUpload: a trace that is dropped on the list is shown, and one that is chosen;
// what is no trace is refused in words.
func TestServeUpload(t *testing.T) {
	t.Parallel()
	address := serve(t, nil, "--open", "no", fixture(trace))
	path, err := filepath.Abs(fixture("net10-wks-stacks.nettrace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	noTrace := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(noTrace, []byte("no trace"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newTab(t, size{1280, 900})
	b.open(address)
	b.wait(`document.querySelector(".grid .rows .row")`) // the only trace
	b.click(".brand")
	b.wait(`document.querySelector(".drop")`)
	b.drop(".drop", noTrace)
	b.wait(`/notes.txt: .*not a trace/.test(document.querySelector(".failure")?.textContent)`)
	b.reported("422 (Unprocessable Entity)")
	b.drop(".drop", path)
	b.wait(`document.querySelector(".flame canvas")`)
	if got := eval[string](b, `document.querySelector(".bar h1").textContent`); got != "net10-wks-stacks.nettrace.gz" {
		b.Errorf("the page is of %s", got)
	}
	b.click(".brand")
	b.wait(`document.querySelector(".home input[type=file]")`)
	b.must2(chromedp.Run(b.ctx, chromedp.SetUploadFiles(chromedp.CSS(".home input[type=file]"), []string{path})))
	b.wait(`document.querySelector(".flame canvas")`)
	b.click(".brand")
	b.wait(`document.querySelectorAll(".home tbody button").length === 3`)
	b.within(address)
}

// drop drops files or folders on an element.
func (b *tab) drop(selector string, paths ...string) {
	b.Helper()
	x, y := b.at(selector, 0.5, 0.5)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		b.must2(chromedp.Call(b.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: x, Y: y, Data: data}))
	}
}

// started starts a program, and waits until it can be reached.
func started(t *testing.T, mode string, env ...string) *dotnettest.Program {
	t.Helper()
	p := dotnettest.Start(t, 10, mode, 600, env...)
	dotnettest.Until(t.Context(), t, "the program can be reached", func() bool {
		sockets, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("dotnet-diagnostic-%d-*-socket", p.PID)))
		return err == nil && len(sockets) > 0
	})
	return p
}

// TestServeLive: the page of a running process grows with each of its collections,
// can be used meanwhile, and has all of them when the process has ended.
func TestServeLive(t *testing.T) {
	p := started(t, "all")
	address := serve(t, nil, "--open", "no", "-p", fmt.Sprint(p.PID))
	b := newTab(t, size{1280, 900})
	b.open(address)
	b.wait(`document.querySelector(".home tbody button:not([disabled])")`)
	b.click(".home tbody button")
	b.wait(`/of [\d,]+ GCs/.test(document.querySelector(".status")?.textContent)`) // not yet with the first
	total := func() int {
		return eval[int](b, `Number(/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, ""))`)
	}
	first := total()
	b.wait(fmt.Sprintf(`Number(/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, "")) > %d`, first+5))
	b.focus("#where")
	b.key("gen<2" + kb.Enter)
	b.hash(true, "where=gen")
	b.wait(`(() => {
		const counts = /^([\d,]+) of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent) ?? [];
		const [, selected, all] = counts.map((n) => Number(n.replace(/,/g, "")));
		return 0 < selected && selected < all;
	})()`)
	b.click(".toolbar .buttons button:nth-child(3)")
	b.focus(".grid")
	b.key(kb.End)
	b.key(kb.Enter)
	b.wait(`/sync blocks/.test(document.querySelector(".details")?.textContent)`)
	b.key(kb.Escape)
	if got := eval[string](b, `document.querySelector(".verdict .sentence").textContent`); !strings.HasSuffix(got, ".") {
		b.Errorf("the verdict is %q", got)
	}
	b.wait(`/[1-9]\d* (background GCs?|of them) with (its|their) phases/.test(document.querySelector("#chart-phases")?.ariaLabel)`)
	b.shoot("live")
	p.Terminate()
	b.wait(fmt.Sprintf(`/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, "") === "%d"`, ended(t, address)))
	b.within(address)
}

// TestServeLiveShare: while the page of a running process grows, its verdict and its figure state
// the same share of pauses, whenever one looks.
func TestServeLiveShare(t *testing.T) {
	p := started(t, "web")
	b := newTab(t, size{1280, 900})
	b.open(serve(t, nil, "--open", "no", "-p", fmt.Sprint(p.PID)))
	b.wait(`document.querySelector(".home tbody button:not([disabled])")`)
	b.click(".home tbody button")
	b.wait(`document.querySelector(".grid .rows .row")`)
	const shares = `window.shares = [".verdict .sentence", ".figures div:nth-child(2)"].map((e) => /([\d.]+)\s%/.exec(document.querySelector(e)?.textContent)?.[1])`
	eval[bool](b, `(() => {
		window.seen = new Set();
		window.differing = [];
		new MutationObserver(() => {
			`+shares+`;
			if (!shares[0]) return;
			seen.add(shares[0]);
			if (shares[0] !== shares[1]) differing.push(shares.join(" and "));
		}).observe(document.body, { subtree: true, childList: true, characterData: true });
		return true;
	})()`)
	b.wait(`seen.size > 3`)
	if differing := eval[[]string](b, "differing"); len(differing) > 0 {
		b.Errorf("the verdict and the figure differ: %q", differing)
	}
}

// TestServeDump: a button asks with the cost, takes a heap snapshot of a running process,
// and leads to it.
func TestServeDump(t *testing.T) {
	p := started(t, "web")
	b := newTab(t, size{1280, 900})
	b.open(serve(t, nil, "--open", "no", "-p", fmt.Sprint(p.PID)))
	const button = ".home tbody td:nth-child(4) button"
	b.wait(`document.querySelector("` + button + `:not([disabled])")`)
	eval[bool](b, `(window.confirm = (text) => { window.asked = text; return false; }, true)`)
	b.click(button)
	b.wait(`window.asked`)
	if asked := eval[string](b, `window.asked`); !strings.Contains(asked, "pauses it") {
		b.Errorf("it asks %q", asked)
	}
	if got := eval[string](b, `document.querySelector("[role=status]").textContent`); got != "" {
		b.Errorf("without an agreement: %q", got)
	}
	eval[bool](b, `(window.confirm = () => true)()`)
	b.click(button)
	b.wait(`document.querySelector("[role=status] button")`)
	path := eval[string](b, `document.querySelector("[role=status] button").textContent`)
	t.Cleanup(func() { _ = os.Remove(path) })
	if objects := gctrail(t, "objects", path); !strings.Contains(objects, "GcLoad+Session") {
		b.Errorf("%s:\n%s", path, objects)
	}
	b.shoot("dump")
	b.click("[role=status] button")
	b.wait(`document.querySelector(".grid .rows .row")`)
	b.wait(`[...document.querySelectorAll(".of-types tbody td:first-child")].some((e) => e.textContent.includes("GcLoad+Session"))`)
}

// ended waits until the only process that is served has ended, and returns how many
// collections it had.
func ended(t *testing.T, address string) int {
	t.Helper()
	collections := 0
	dotnettest.Until(t.Context(), t, "the process ends", func() bool {
		var list struct {
			Sources []struct {
				Collections int
				Live        bool
			}
		}
		r, err := http.Get(strings.Replace(address, "/?", "/list?", 1))
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(r.Body).Decode(&list)
		_ = r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Sources) != 1 || list.Sources[0].Live {
			return false
		}
		collections = list.Sources[0].Collections
		return collections > 0
	})
	return collections
}

// TestServeFour: four browsers follow a process for $GCTRAIL_BROWSER_SECONDS, and
// miss no collection. What that takes is reported.
func TestServeFour(t *testing.T) {
	seconds, err := strconv.Atoi(cmp.Or(os.Getenv("GCTRAIL_BROWSER_SECONDS"), "3"))
	if err != nil {
		t.Fatal(err)
	}
	// A small gen 0 makes the program collect some 40 times a second.
	p, began := started(t, "web", "DOTNET_GCgen0size=0x600000"), time.Now()
	address, server := serving(t, nil, "--open", "no", "-p", fmt.Sprint(p.PID))
	var tabs []*tab
	for range 4 {
		b := newTab(t, size{1280, 900})
		b.open(address)
		b.wait(`document.querySelector(".home tbody button:not([disabled])")`)
		b.click(".home tbody button")
		b.wait(`document.querySelector(".grid .rows .row")`)
		tabs = append(tabs, b)
	}
	cpu, start := cpuOf(t, server.Process.Pid), time.Now()
	busy := make([]float64, len(tabs))
	for i, b := range tabs {
		busy[i] = b.metric("TaskDuration")
	}
	time.Sleep(time.Duration(seconds) * time.Second) // what follows measures
	elapsed := time.Since(start)
	used := cpuOf(t, server.Process.Pid) - cpu
	for i, b := range tabs {
		t.Logf("browser %d: its main thread was busy for %.0f %% of the time, %.1f MB of script's heap", i+1,
			100*(b.metric("TaskDuration")-busy[i])/elapsed.Seconds(), b.metric("JSHeapUsedSize")/1e6)
	}
	p.Terminate()
	ran := time.Since(began)
	all := ended(t, address)
	t.Logf("%d collections, %.0f a second; the server used %.1f %% of a processor, at most %s of memory",
		all, float64(all)/ran.Seconds(), 100*used.Seconds()/elapsed.Seconds(), memoryOf(t, server.Process.Pid))
	for i, b := range tabs {
		b.wait(fmt.Sprintf(`/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, "") === "%d"`, all))
		b.wait(`/No events lost/.test(document.querySelector(".evidence").textContent)`)
		b.within(address)
		t.Logf("browser %d has all of them", i+1)
	}
}

// metric is a figure that the browser keeps of a page.
func (b *tab) metric(name string) float64 {
	b.Helper()
	b.must2(chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{}))
	r, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	b.must(err)
	for _, m := range r.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	b.Fatalf("no metric %s", name)
	return 0
}

// cpuOf is the processor time that a process has used.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var ticks int64
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// memoryOf is the most memory that a process has used.
func memoryOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if most, is := strings.CutPrefix(line, "VmHWM:"); is {
			return strings.TrimSpace(most)
		}
	}
	return "?"
}

// TestServeTLS: a server for other machines uses the token of a file, and TLS.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := certify(t, dir)
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("a-token-that-is-shared\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serve(t, nil, "--open", "no", "--listen", "0.0.0.0:0", "--token-file", token, "--tls-cert", certificate, "--tls-key", key, fixture(trace))
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" || at.Query().Get("t") != "a-token-that-is-shared" {
		t.Fatal(address, err)
	}
	local := "https://127.0.0.1:" + at.Port()
	b := ownTab(t, 5*time.Minute, size{1280, 900}, chromedp.Flag("ignore-certificate-errors", true))
	b.open(local + "/?t=a-token-that-is-shared")
	b.wait(`document.querySelectorAll(".home tbody button").length === 1`)
	b.click(".home tbody button")
	b.wait(`document.querySelector(".grid .rows .row")`)
	b.within(local)
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(local+"/?t=another-token-of-length")))
	b.wait(`/lacks the token/.test(document.body.textContent)`)
	if r, err := http.Get("http://127.0.0.1:" + at.Port() + "/?t=a-token-that-is-shared"); err == nil {
		defer r.Body.Close()
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %s", r.Status)
		}
	}
}

// certify writes a certificate and its key.
func certify(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", secret)
}

// TestServeOpens: --open starts the browser of the desktop with the page's address.
func TestServeOpens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" >\""+opened+".new\" && mv \""+opened+".new\" \""+opened+"\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	address := serve(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, "--open", "yes", fixture(trace))
	var text []byte
	dotnettest.Until(t.Context(), t, "a browser is started", func() bool {
		var err error
		text, err = os.ReadFile(opened)
		return err == nil
	})
	if string(text) != address {
		t.Errorf("%s is opened, want %s", text, address)
	}
}
