package browser

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// serveExamples serves the page that opens traces with two examples, and a file beside them
// that is not in their list.
func serveExamples(t *testing.T) *httptest.Server {
	t.Helper()
	dir, err := webpage()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	names := []string{trace, "net10-wks-stacks.nettrace.gz"}
	mux.HandleFunc("/examples/list.json", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(names) })
	for _, name := range append(names, unlisted) {
		mux.HandleFunc("/examples/"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, fixture(name)) })
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

const unlisted = "net10-wks-leak.nettrace.gz"

// asks returns the names that the page asked the folder of examples for.
func (b *tab) asks() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, request := range b.requests {
		if _, name, ok := strings.Cut(request, "/examples/"); ok {
			all = append(all, name)
		}
	}
	return all
}

// TestOpenExample: the page opens the examples that its address asks for, as the program does.
func TestOpenExample(t *testing.T) {
	t.Parallel()
	server := serveExamples(t)
	b := newTab(t, size{1280, 900})
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(server.URL+"/?trace="+trace)))
	b.wait(framed("true"))
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, trace) {
		t.Errorf("the title is %q", title)
	}
	if violations := eval[[]string](b, "violations"); len(violations) > 0 {
		t.Error(violations)
	}
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(server.URL+"/?before="+trace+"&after=net10-wks-stacks.nettrace.gz")))
	b.wait(framed(`d.querySelector(".verdict .sentence").textContent !== ""`))
	if got := b.asks(); !slices.Equal(got, []string{"list.json", trace, "list.json", trace, "net10-wks-stacks.nettrace.gz"}) {
		t.Errorf("the page asked for %q", got)
	}
}

// TestOpenExampleOnly: whatever the address has, the page asks for nothing that is not in the
// list, and for nothing of another server.
func TestOpenExampleOnly(t *testing.T) {
	t.Parallel()
	server := serveExamples(t)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	b := newTab(t, size{1280, 900})
	for _, query := range []string{"trace=" + unlisted, "trace=../index.html", "trace=" + other.URL + "/x", "before=" + trace + "&after=//x", "trace=__proto__"} {
		b.must(chromedp.Do(b.ctx, chromedp.Navigate(server.URL+"/?"+query)))
		b.wait(`/is no example of this page/.test(document.querySelector(".failure")?.textContent)`)
		if got := b.asks(); slices.ContainsFunc(got, func(name string) bool { return name != "list.json" && name != trace }) {
			t.Errorf("%s: the page asked for %q", query, got)
		}
	}
	b.wait(`/Ready/.test(document.querySelector("[role=status]")?.textContent)`)
	b.shows(fixture(trace)) // other files can be opened all the same
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.requests {
		if !strings.HasPrefix(request, "GET "+server.URL+"/") {
			t.Error(request)
		}
	}
}

// TestOpenExampleMissing: the page from disk, which may ask for nothing, has no examples, and says so.
func TestOpenExampleMissing(t *testing.T) {
	t.Parallel()
	dir, err := webpage()
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, size{1280, 900})
	b.must(chromedp.Do(b.ctx, chromedp.Navigate("file://"+dir+"/gctrail.html?trace="+trace)))
	b.wait(`/there is no examples\/list.json beside this page/.test(document.querySelector(".failure")?.textContent)`)
}
