//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestAgentCaptures has a rule and a request make captures of a program, and reads
// them.
func TestAgentCaptures(t *testing.T) {
	t.Parallel()
	const token = "a-token-for-the-test"
	file := dotnettest.Install(t, 10)
	folder := t.TempDir()
	config := filepath.Join(folder, "agent.yaml")
	tokenFile := filepath.Join(folder, "token")
	text := fmt.Sprintf("listen: %s\nnames: [%s]\ntoken-file: %s\nledger: {folder: ''}\ncaptures: {folder: %s}\nrules:\n  - {name: any, when: pause>1us, duration: 1s}\n",
		anyPort, filepath.Base(file), tokenFile, folder)
	for path, content := range map[string]string{config: text, tokenFile: token} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := runAgent(t, "--config", config)
	program := dotnettest.StartFile(t, file, "web", 600, dotnettest.Often)
	a.samplesUntil(t, "/metrics", func(s map[string]float64) bool { return s[`gctrail_agent_captures_total{outcome="kept"}`] == 1 })

	url := fmt.Sprintf("http://%s/api/v1/captures?pid=%d&duration=1s&profile=gc-collect", a.address, program.PID)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var made struct{ Path string }
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	captures, err := filepath.Glob(filepath.Join(folder, "*.nettrace"))
	if err != nil || len(captures) != 2 || !strings.Contains(strings.Join(captures, " "), made.Path) {
		t.Errorf("captures %q, %v; made: %s", captures, err, made.Path)
	}
	for _, path := range captures {
		code, out, talk := gctrail(t.Context(), "gcs", path)
		if code != 0 || strings.Count(out, "\n") < 3 || strings.Contains(talk, "truncated") {
			t.Errorf("%s: exit code %d: %s%s", path, code, out, talk)
		}
	}
}

// TestAgentDump has the agent take a heap snapshot of a program that meets a condition.
func TestAgentDump(t *testing.T) {
	t.Parallel()
	file := dotnettest.Install(t, 10)
	folder := t.TempDir()
	a, stop := runAgent(t, "--listen", anyPort, "--name", filepath.Base(file), "--ledger", "", "--captures", folder, "--dump-on", "heap>1MB")
	program := dotnettest.StartFile(t, file, "web", 600, dotnettest.Often)
	a.samplesUntil(t, "/metrics", func(s map[string]float64) bool { return s[`gctrail_agent_dumps_total{outcome="kept"}`] == 1 })
	stop()
	talk := strings.Join(a.talk.all(), "\n")
	captures, err := filepath.Glob(filepath.Join(folder, "*.nettrace"))
	if err != nil || len(captures) != 1 || !strings.Contains(talk, fmt.Sprintf("%d: heap snapshot kept in %s", program.PID, captures[0])) {
		t.Fatalf("captures %q, %v: %s", captures, err, talk)
	}
	all, _, err := readSnapshots(captures[0])
	if err != nil || len(all) != 1 || !all[0].Missing.Whole() || all[0].Objects < 100 {
		t.Errorf("%d snapshots, %v", len(all), err)
	}
}
