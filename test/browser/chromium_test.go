package browser

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	control "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// chromium is the browser's path; without one, the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium is installed")
	return ""
}

// options are how a browser is started. Pages that nobody looks at are not slowed down.
func options(path string) []chromedp.ExecAllocatorOption {
	all := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU}
	for _, name := range []string{
		"disable-quic", "disable-background-networking", "hide-scrollbars", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding",
	} {
		all = append(all, chromedp.Flag(name, true))
	}
	return all
}

// A sharedBrowser has the tabs of all tests that need no browser of their own, because starting
// one takes seconds of a busy machine. Each tab has a profile and a window to itself: it finds
// nothing of other tests, and is never hidden.
type sharedBrowser struct {
	mu   sync.Mutex
	ctx  context.Context // of its first tab, which stays empty
	stop context.CancelFunc
}

var shared sharedBrowser

// context returns the context of the browser. It starts one where there is none, or none any more.
func (s *sharedBrowser) context(path string) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		select {
		case <-chromedp.FromContext(s.ctx).Browser.LostConnection:
			s.stop()
		default:
			return s.ctx, nil
		}
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options(path)...)
	ctx, cancel := chromedp.NewContext(allocator)
	stop := func() {
		cancel()
		end()
	}
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, err
	}
	s.ctx, s.stop = ctx, stop
	return ctx, nil
}

// resize gives the tab's window a size.
func (b *tab) resize(of size) {
	b.Helper()
	window, err := chromedp.CallBrowser(b.ctx, control.GetWindowForTarget, control.GetWindowForTargetParams{TargetID: chromedp.FromContext(b.ctx).Target.TargetID})
	b.must(err)
	b.must2(chromedp.CallBrowser(b.ctx, control.SetWindowBounds, control.SetWindowBoundsParams{
		WindowID: window.WindowID, Bounds: &control.Bounds{Width: of.width, Height: of.height},
	}))
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}
