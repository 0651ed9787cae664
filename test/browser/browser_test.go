package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// binary is the program that is tested: $GCTRAIL_BINARY, or built once.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("GCTRAIL_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", "gctrail")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gctrail")
	return path, goRoot("build", "-o", path, "./cmd/gctrail")
})

// goRoot runs the go command in the module of gctrail.
func goRoot(args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

const root = "../.."

// gctrail runs the program.
func gctrail(t *testing.T, args ...string) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		exit, _ := errors.AsType[*exec.ExitError](err)
		t.Fatalf("gctrail %s: %v: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out)
}

// fixture is the path of a trace of testdata.
func fixture(name string) string { return filepath.Join(root, "testdata", name) }

// pageOf writes the page of a trace, and returns its URL.
func pageOf(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	gctrail(t, append([]string{"report", "--format", "html", "-o", path}, args...)...)
	return "file://" + path
}

// A tab is a page in a browser. It records what the page must not do: errors, requests,
// violations of its policy.
type tab struct {
	*testing.T
	ctx      context.Context
	patience time.Duration // of wait

	mu       sync.Mutex
	faults   []string
	requests []string
}

// size is the width and height of a window.
type size struct{ width, height int64 }

// newTab opens an empty tab in the browser that tests share.
func newTab(t *testing.T, of size) *tab {
	t.Helper()
	browser, err := shared.context(chromium(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := tabOf(t, ctx, 10*time.Minute, of)
	b.resize(of)
	// Its window need not be the active one.
	b.must2(chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	return b
}

// ownTab opens an empty tab in a browser of its own, which ends after some time.
func ownTab(t *testing.T, limit time.Duration, of size, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	opts := append(options(chromium(t)), chromedp.WindowSize(int(of.width), int(of.height)), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(opts, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return tabOf(t, ctx, limit, of)
}

// tabOf prepares the empty tab of a context.
func tabOf(t *testing.T, ctx context.Context, limit time.Duration, of size) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, patience: 2 * time.Minute}
	b.must(chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(of.width, of.height)))
	b.must2(chromedp.Call(ctx, network.Enable, network.EnableParams{}))
	b.must2(chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch}))
	b.must(chromedp.Listen(ctx, b.hear))
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" {
				b.fault("console: " + m.String())
			}
		}
	}()
	return b
}

// watch notes violations of the policy and long tasks before the page's script
// runs.
const watch = `
	window.violations = [];
	addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI));
	window.longTasks = [];
	new PerformanceObserver((list) => list.getEntries().forEach((e) => longTasks.push([Math.round(e.startTime), Math.round(e.duration)]))).observe({ type: "longtask", buffered: true });
`

func (b *tab) hear(ev any) {
	sent, ok := ev.(*network.EventRequestWillBeSent)
	if !ok || strings.HasPrefix(sent.Request.URL, "data:") || strings.HasPrefix(sent.Request.URL, "blob:") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, sent.Request.Method+" "+sent.Request.URL)
}

func (b *tab) fault(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, s)
}

// reported waits until the browser has reported a fault that the test causes, and forgets
// it. The report may arrive after the page has shown what it is about.
func (b *tab) reported(text string) {
	b.Helper()
	caused := func(fault string) bool { return strings.Contains(fault, text) }
	dotnettest.Until(b.ctx, b, fmt.Sprintf("the browser reports %q", text), func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		heard := slices.ContainsFunc(b.faults, caused)
		b.faults = slices.DeleteFunc(b.faults, caused)
		return heard
	})
}

func (b *tab) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *tab) must2(_ any, err error) {
	b.Helper()
	b.must(err)
}

// open shows a URL and waits until the page is there.
func (b *tab) open(url string) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(url)))
	b.wait(`document.documentElement.dataset.ready !== undefined`)
	b.settle()
}

// eval evaluates an expression.
func eval[T any](b *tab, js string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", js, err)
	}
	return v
}

// left is the code of the protocol's error where the page is left, or loaded again, while an
// expression is evaluated.
const left = -32000

// wait waits until an expression is true, on the page that is then there.
func (b *tab) wait(js string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, b.patience)
	defer cancel()
	held := dotnettest.Poll(ctx, func() bool {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		if e := (*cdproto.Error)(nil); err != nil && (!errors.As(err, &e) || e.Code != left) {
			b.Fatalf("%s: %v", js, err)
		}
		return is
	})
	if held {
		return
	}
	b.shoot("failed")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Fatalf("never: %s; %q", js, b.faults)
}

// settle waits until pending changes are drawn, and nothing else is to be done.
func (b *tab) settle() {
	b.Helper()
	eval[bool](b, `new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestIdleCallback(() => requestAnimationFrame(() => done(true)), { timeout: 3000 })), 350))`)
}

// key presses a key.
func (b *tab) key(keys string, opts ...chromedp.KeyOption) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(keys, opts...)))
}

// click clicks the element that a selector finds, where it is.
func (b *tab) click(selector string) {
	b.Helper()
	x, y := b.at(selector, 0.5, 0.5)
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(x, y)))
}

// still waits until the page does not scroll any more.
const still = `new Promise((done) => {
	let last = -1;
	const timer = setInterval(() => {
		if (scrollY === last) {
			clearInterval(timer);
			done(true);
		}
		last = scrollY;
	}, 60);
})`

// at waits for an element, scrolls it into view and returns the place at a part of its width
// and height.
func (b *tab) at(selector string, across, down float64) (x, y float64) {
	b.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)?.getBoundingClientRect().height`, selector))
	eval[bool](b, still)
	box := eval[[]float64](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e) return [];
		e.scrollIntoView({ block: "center", behavior: "instant" });
		const r = e.getBoundingClientRect();
		return [r.left, r.top, r.width, r.height];
	})()`, selector))
	if len(box) != 4 || box[2] == 0 || box[3] == 0 {
		b.Fatalf("%s is not shown: %v", selector, box)
	}
	return box[0] + across*box[2], box[1] + down*box[3]
}

// focus gives an element the focus of the keyboard.
func (b *tab) focus(selector string) {
	b.Helper()
	if !eval[bool](b, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e?.focus(); return document.activeElement === e; })()`, selector)) {
		b.Fatalf("%s takes no focus", selector)
	}
}

// media emulates a colour scheme, and print. Nothing scrolls smoothly: a click would miss what
// moves, where the machine is busy.
func (b *tab) media(scheme, media string) {
	b.Helper()
	b.must2(chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}))
	b.settle()
}

// shoot writes a picture of the whole page to $GCTRAIL_SHOTS, if that is set.
func (b *tab) shoot(name string) {
	b.Helper()
	dir := os.Getenv("GCTRAIL_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	b.must(err)
	b.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// blameless fails the test if the page did something that it must not do.
func (b *tab) blameless(requests ...string) {
	b.Helper()
	violations := eval[[]string](b, "violations")
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(violations) > 0 {
		b.Errorf("violations of the policy: %q", violations)
	}
	if len(b.faults) > 0 {
		b.Errorf("%q", b.faults)
	}
	if !slices.Equal(b.requests, requests) {
		b.Errorf("requests: %q", b.requests)
	}
}
