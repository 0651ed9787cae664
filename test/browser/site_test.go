package browser

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/internal/extent"
)

const siteBase = "/gctrail/" // where the site is published

// site is the folder that .ci/site has built.
func site(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GCTRAIL_SITE")
	if dir == "" {
		t.Skip("no site: build it with .ci/site FOLDER, and set GCTRAIL_SITE")
	}
	return dir
}

// sitePages returns the pages by their paths in the site, without the one that opens traces,
// which has tests of its own.
func sitePages(t *testing.T) map[string]string {
	t.Helper()
	dir, pages := site(t), map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || strings.HasPrefix(rel, "open") {
			return err
		}
		text, err := os.ReadFile(name)
		pages[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 35 {
		t.Fatalf("%d pages", len(pages))
	}
	return pages
}

var (
	attribute = regexp.MustCompile(`<(\w+)[^>]*?\s(href|src|srcset|poster|data|action)="([^"]*)"`)
	idOf      = regexp.MustCompile(`\sid="([^"]*)"`)
)

// TestSiteLinks: every link within the site leads to a file and, if it has an anchor, to an
// element; examples are in the list of the page that opens them. Nothing is loaded from
// another server.
func TestSiteLinks(t *testing.T) {
	t.Parallel()
	dir, pages := site(t), sitePages(t)
	var examples []string
	list, err := os.ReadFile(filepath.Join(dir, "open/examples/list.json"))
	if err == nil {
		err = json.Unmarshal(list, &examples)
	}
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, text := range pages {
		for _, m := range attribute.FindAllStringSubmatch(text, -1) {
			tag, address := m[1], html.UnescapeString(m[3])
			to, err := url.Parse(address)
			if err != nil {
				t.Errorf("%s: %s: %v", name, address, err)
				continue
			}
			if to.Scheme == "data" {
				continue
			}
			if to.IsAbs() || to.Host != "" {
				if tag != "a" {
					t.Errorf("%s loads %s", name, address)
				}
				continue
			}
			links++
			if fault := leads(dir, pages, name, to, examples); fault != "" {
				t.Errorf("%s: %s: %s", name, address, fault)
			}
		}
	}
	if links < 1000 {
		t.Errorf("only %d links", links)
	}
}

// leads returns the fault of a link of a page, if it has one.
func leads(dir string, pages map[string]string, from string, to *url.URL, examples []string) string {
	file := from
	if to.Path != "" {
		rel, ok := strings.CutPrefix(to.Path, siteBase)
		if !ok {
			return "not below " + siteBase
		}
		file = path.Clean(rel)
		if rel == "" || strings.HasSuffix(rel, "/") {
			file = path.Join(rel, "index.html")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
		return "there is no such file"
	}
	for _, values := range to.Query() {
		for _, name := range values {
			_, err := os.Stat(filepath.Join(dir, "open/examples", name))
			if err != nil || !slices.Contains(examples, name) {
				return name + " is no example"
			}
		}
	}
	if to.Fragment == "" || file == "index.html" && to.Fragment == "VPContent" {
		return ""
	}
	for _, m := range idOf.FindAllStringSubmatch(pages[file], -1) {
		if html.UnescapeString(m[1]) == to.Fragment {
			return ""
		}
	}
	if to.Fragment == "VPContent" { // is there once the page's script has run
		return ""
	}
	return "there is no such anchor"
}

// TestSitePolicy: each page has a policy that allows no other server, before anything else.
func TestSitePolicy(t *testing.T) {
	t.Parallel()
	for name, text := range sitePages(t) {
		_, head, _ := strings.Cut(text, "<head>")
		head = strings.TrimSpace(strings.Replace(head, `<meta charset="utf-8">`, "", 1))
		policy, _, ok := strings.Cut(strings.TrimPrefix(head, `<meta http-equiv="Content-Security-Policy" content="`), `"`)
		if !ok || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self' 'sha256-") || strings.Contains(policy, "http") {
			t.Errorf("%s: %.100s", name, head)
		}
	}
}

// serveSite serves the site at the path where it is published.
func serveSite(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(siteBase, http.StripPrefix(siteBase, http.FileServer(http.Dir(site(t)))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// shown opens a page of the site, and waits until its script has run.
func (b *tab) shown(server *httptest.Server, name string) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(server.URL+siteBase+name)))
	b.wait(`document.querySelector("#app")?.__vue_app__ && document.querySelector("#VPContent h1")`)
	b.settle()
}

// TestSiteLooks: pages fit the window, in both colour schemes, ask only their server for
// something, and axe finds no serious fault of them.
func TestSiteLooks(t *testing.T) {
	t.Parallel()
	server := serveSite(t)
	axe, axeErr := os.ReadFile("node_modules/axe-core/axe.min.js")
	for _, tt := range extent.Share([]struct {
		size
		scheme string
	}{{size{360, 740}, "dark"}, {size{360, 740}, "light"}, {size{1280, 900}, "light"}, {size{2560, 1440}, "dark"}}, 2) {
		t.Run(fmt.Sprintf("%d %s", tt.width, tt.scheme), func(t *testing.T) {
			b := newTab(t, tt.size)
			b.media(tt.scheme, "")
			for _, name := range lookedAt {
				b.shown(server, name)
				b.shoot(fmt.Sprintf("site-%s-%d-%s", strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-"), tt.width, tt.scheme))
				if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s: %d pixels too wide", name, over)
				}
				if dark := eval[bool](b, `document.documentElement.classList.contains("dark")`); dark != (tt.scheme == "dark") {
					t.Errorf("%s is dark: %t", name, dark)
				}
				if axeErr == nil {
					b.accessible(string(axe), name)
				}
				b.within(server.URL)
			}
		})
	}
	if axeErr != nil {
		t.Skip("axe did not run: npm ci in test/browser installs it")
	}
}

// lookedAt are pages with everything that pages have.
var lookedAt = []string{"", "findings.html", "format/nettrace.html", "textbook/R21.html", "textbook/"}

// TestSiteSearch: the search finds a page by the keyboard alone, in the colours of the scheme,
// and without other servers. Axe does not look at it: the list is VitePress's own, with links
// in options in a button.
func TestSiteSearch(t *testing.T) {
	t.Parallel()
	server := serveSite(t)
	backgrounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		b := newTab(t, size{1280, 900})
		b.media(scheme, "")
		b.shown(server, "")
		b.key("/")
		b.wait(`document.querySelector(".VPLocalSearchBox input")`)
		b.focus(".VPLocalSearchBox input")
		b.key("dominator")
		b.wait(`[...document.querySelectorAll(".VPLocalSearchBox .result")].some((e) => e.getAttribute("href").includes("/heap"))`)
		b.shoot("site-search-" + scheme)
		backgrounds[eval[string](b, `getComputedStyle(document.querySelector(".VPLocalSearchBox .shell")).backgroundColor`)] = true
		b.key("\r")
		b.wait(`location.pathname !== "` + siteBase + `" && document.querySelector("#VPContent h1")`)
		b.within(server.URL)
	}
	if len(backgrounds) != 2 {
		t.Errorf("the search has the same background in both schemes: %v", backgrounds)
	}
}

// TestSiteExample: a page of the textbook leads to its trace in the page that opens traces,
// with the verdict that is printed, and to the comparison of its pair.
func TestSiteExample(t *testing.T) {
	t.Parallel()
	server := serveSite(t)
	b := newTab(t, size{1280, 900})
	b.shown(server, "textbook/R21.html")
	verdict := eval[string](b, `document.querySelector(".vp-doc pre code").textContent.split("\n")[1]`)
	if !strings.HasPrefix(verdict, "Pauses took") {
		t.Fatalf("the verdict is %q", verdict)
	}
	b.click(`a[href*="open/?trace="]`)
	b.wait(framed(fmt.Sprintf(`d.querySelector(".verdict .sentence").textContent.startsWith(%q)`, verdict)))
	b.shoot("site-example")
	b.within(server.URL)
	b.shown(server, "textbook/R21.html")
	b.click(`a[href*="before="]`)
	b.wait(framed(`d.querySelector(".verdict .sentence").textContent !== "" && d.body.textContent.includes("collect-good")`))
	b.within(server.URL)
}
