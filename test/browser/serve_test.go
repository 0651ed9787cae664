package browser

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// serve runs gctrail serve until the test ends, and returns the address that it
// prints.
func serve(t *testing.T, env []string, args ...string) string {
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
	return strings.TrimSpace(line)
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
	address := serve(t, nil, "--open", "no", fixture("net10-wks-stacks.nettrace.gz"), fixture(trace))
	b := newTab(t, size{1280, 900})
	b.open(address)
	b.wait(`document.querySelectorAll(".home tbody button").length === 2`)
	b.click(".home tbody tr:nth-child(1) button")
	b.wait(`document.querySelector(".flame canvas")`)
	b.click(".grid .rows .row:nth-child(2)")
	b.wait(`/Marking, by root/.test(document.querySelector(".details")?.textContent)`)
	b.key(kb.Escape)
	b.click(".brand")
	b.wait(`document.querySelectorAll(".home tbody button").length === 2`)
	b.focus(".home tbody tr:nth-child(2) button")
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
	b.wait(`document.querySelector(".drop")`)
	drop := func(path string) {
		b.Helper()
		x, y := b.at(".drop", 0.5, 0.5)
		data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{path}, DragOperationsMask: 1}
		for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
			b.must2(chromedp.Call(b.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: x, Y: y, Data: data}))
		}
	}
	drop(noTrace)
	b.wait(`/notes.txt: .*not a trace/.test(document.querySelector(".failure")?.textContent)`)
	b.faults = nil // the browser reports the refusal
	drop(path)
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

// TestServeLive: the page of a running process grows with each of its collections,
// can be used meanwhile, and has all of them when the process has ended.
func TestServeLive(t *testing.T) {
	p := dotnettest.Start(t, 10, "all", 25)
	address := serve(t, nil, "--open", "no", "-p", fmt.Sprint(p.PID))
	b := newTab(t, size{1280, 900})
	b.open(address)
	b.wait(`document.querySelector(".home tbody button:not([disabled])")`)
	b.click(".home tbody button")
	b.wait(`document.querySelector(".grid .rows .row")`)
	total := func() int {
		return eval[int](b, `Number(/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, ""))`)
	}
	first := total()
	b.wait(fmt.Sprintf(`Number(/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, "")) > %d`, first+5))
	b.focus("#where")
	b.key("gen=0" + kb.Enter)
	b.hash(true, "where=gen")
	b.settle()
	if n := b.selected(); n <= 0 || n >= total() {
		b.Errorf("a condition selects %d of %d", n, total())
	}
	b.click(".toolbar .buttons button:nth-child(3)")
	b.focus(".grid")
	b.key(kb.End)
	b.key(kb.Enter)
	b.wait(`/Marking, by root/.test(document.querySelector(".details")?.textContent)`)
	b.key(kb.Escape)
	if got := eval[string](b, `document.querySelector(".verdict .sentence").textContent`); !strings.HasSuffix(got, ".") {
		b.Errorf("the verdict is %q", got)
	}
	b.shoot("live")
	_ = p.Wait()
	served := func() int {
		var list struct {
			Sources []struct {
				Collections int
				Live        bool
			}
		}
		r, err := http.Get(strings.Replace(address, "/?", "/list?", 1))
		b.must(err)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		b.must(err)
		b.must(json.Unmarshal(text, &list))
		if len(list.Sources) != 1 || list.Sources[0].Live {
			return -1
		}
		return list.Sources[0].Collections
	}
	for range 200 {
		if served() > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.wait(fmt.Sprintf(`/of ([\d,]+) GCs/.exec(document.querySelector(".status").textContent)[1].replace(/,/g, "") === "%d"`, served()))
	b.within(address)
}

// TestServeTLS: a server for other machines uses the token of a file, and TLS.
func TestServeTLS(t *testing.T) {
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
	b := newTab(t, size{1280, 900}, chromedp.Flag("ignore-certificate-errors", true))
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
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" >\""+opened+".new\" && mv \""+opened+".new\" \""+opened+"\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	address := serve(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, "--open", "yes", fixture(trace))
	for range 200 {
		if text, err := os.ReadFile(opened); err == nil {
			if string(text) != address {
				t.Errorf("%s is opened, want %s", text, address)
			}
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Error("no browser is started")
}
