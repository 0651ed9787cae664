package browser

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// serveWeb serves VS Code for the Web, which has no server, so that extensions run in the browser.
// An extension of the test has the files of a folder.
func serveWeb(t *testing.T, folder string) *httptest.Server {
	t.Helper()
	chromium(t)
	dir := vsCode(t)
	packed, err := extension()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(dir, workbenchScript))
	if err != nil {
		t.Fatal(err)
	}
	for was, is := range map[string]string{ // of code-server, which has a server for files and settings
		"remoteAuthority:location.host":                                      "remoteAuthority:void 0",
		`ze(P.file(this.userDataPath).with({scheme:J.vscodeRemote}),"User")`: `P.file("/User").with({scheme:J.vscodeUserData})`,
	} {
		if strings.Count(string(script), was) != 1 {
			t.Fatalf("%s does not have %s once", workbenchScript, was)
		}
		script = []byte(strings.Replace(string(script), was, is, 1))
	}
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServer(http.Dir(dir))))
	mux.HandleFunc("/static/"+workbenchScript, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
	})
	mux.Handle("/gctrail/", http.StripPrefix("/gctrail/", http.FileServer(http.Dir(packed))))
	mux.Handle("/served/", http.StripPrefix("/served/", http.FileServer(http.Dir("code/served"))))
	mux.HandleFunc("/files/", listed(folder))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	page, err := webDocument(dir, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) })
	return server
}

const workbenchScript = "out/vs/code/browser/workbench/workbench.js"

// listed serves the files of a folder. A folder in it is a list of names, types of VS Code and sizes.
func listed(folder string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Join(folder, filepath.FromSlash(path.Clean("/"+strings.TrimPrefix(r.URL.Path, "/files"))))
		entries, err := os.ReadDir(name)
		if err != nil {
			http.ServeFile(w, r, name)
			return
		}
		all := [][]any{}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			kind := 1
			if entry.IsDir() {
				kind = 2
			}
			all = append(all, []any{entry.Name(), kind, info.Size()})
		}
		_ = json.NewEncoder(w).Encode(all)
	}
}

// webDocument returns the document of VS Code for the Web.
func webDocument(dir, address string) (string, error) {
	document, err := os.ReadFile(filepath.Join(dir, path.Dir(workbenchScript), "workbench.html"))
	if err != nil {
		return "", err
	}
	host := strings.TrimPrefix(address, "http://")
	at := func(path string) map[string]string {
		return map[string]string{"scheme": "http", "authority": host, "path": path}
	}
	settings, err := json.Marshal(map[string]any{
		"folderUri":                    map[string]string{"scheme": "served", "path": "/"},
		"additionalBuiltinExtensions":  []any{at("/gctrail"), at("/served")},
		"webviewEndpoint":              address + "/static/out/vs/workbench/contrib/webview/browser/pre/",
		"productConfiguration":         map[string]any{"enableTelemetry": false},
		"enableWorkspaceTrust":         false,
		"isEnabledFileDownloads":       true,
		"isEnabledFileUploads":         true,
		"isEnabledCoderGettingStarted": false,
		"userDataPath":                 "/user",
	})
	if err != nil {
		return "", err
	}
	return strings.NewReplacer(
		"{{WORKBENCH_WEB_CONFIGURATION}}", html.EscapeString(string(settings)),
		"{{WORKBENCH_WEB_BASE_URL}}", "/static",
		"{{WORKBENCH_NLS_FALLBACK_URL}}", "/static/out/nls.messages.js",
		"{{WORKBENCH_NLS_URL}}", "data:text/javascript,",
		"{{WORKBENCH_AUTH_SESSION}}", "", "{{BASE}}", "", "{{VS_BASE}}", "",
	).Replace(string(document)), nil
}

// TestCodeWeb: VS Code for the Web opens and compares traces, and goes from names to their source.
// Commands that need a program are not listed, because it has none.
func TestCodeWeb(t *testing.T) {
	folder := codeFiles(t)
	w := openFolder(t, serveWeb(t, folder).URL)
	for _, name := range []string{"stacks.nettrace", "linux.trace.zip"} {
		w.open(name)
		w.wait(reportedIn(fmt.Sprintf(`d.body.textContent.includes(%q)`, verdict(t, filepath.Join(folder, name)))))
		w.shoot("code-web-" + name)
	}
	w.step("source", w.leads)
	w.step("compares", w.compares)
	w.palette()
	w.key("gctrail")
	w.wait(`/Compare/.test(document.querySelector(".quick-input-list")?.textContent)`)
	if listed := eval[string](w.tab, `document.querySelector(".quick-input-list").textContent`); strings.Contains(listed, "Record") || strings.Contains(listed, "Watch") {
		t.Errorf("commands: %s", listed)
	}
	w.blameless()
}
