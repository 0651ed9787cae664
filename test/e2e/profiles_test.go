package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// startProfilesCollector starts a Collector that passes profiles on as JSON.
func startProfilesCollector(t *testing.T, to string) string {
	t.Helper()
	path, err := collector()
	if err != nil {
		t.Skipf("the Collector cannot be built: %v", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port(t))
	config := filepath.Join(t.TempDir(), "collector.yaml")
	write(t, config, fmt.Sprintf(`receivers:
  otlp:
    protocols:
      http:
        endpoint: %s
exporters:
  otlphttp:
    profiles_endpoint: %s
    encoding: json
    compression: none
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    profiles:
      receivers: [otlp]
      exporters: [otlphttp]
`, address, to))
	p := &program{
		name: "collector", command: []string{path, "--config", "file:" + config, "--feature-gates=service.profilesSupport"},
		ready: answers("http://" + address),
	}
	p.run(t)
	return "http://" + address
}

// TestProfilesConfig: the Collector accepts the configuration in deploy.
func TestProfilesConfig(t *testing.T) {
	path, err := collector()
	if err != nil {
		t.Skipf("the Collector cannot be built: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), path, "validate", "--config", "file:../../deploy/profiles/collector.yaml", "--feature-gates=service.profilesSupport")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Profiles are the messages that a Collector passed on, as JSON, where 64-bit numbers are
// strings.
type profiles struct {
	ResourceProfiles []struct {
		Resource struct {
			Attributes []struct {
				Key   string
				Value struct{ StringValue, IntValue string }
			}
		}
		ScopeProfiles []struct {
			Profiles []struct {
				SampleType   struct{ TypeStrindex int }
				DurationNano string
				Samples      []struct {
					StackIndex int
					Values     []string
				}
			}
		}
	}
	Dictionary struct {
		LocationTable []struct {
			Lines []struct{ FunctionIndex int }
		}
		FunctionTable []struct{ NameStrindex int }
		StringTable   []string
		StackTable    []struct{ LocationIndices []int }
	}
}

// sums adds up the values of a kind by the frames of their stacks, innermost first.
func (p *profiles) sums(kind string, of map[string]int64) {
	d := &p.Dictionary
	for _, r := range p.ResourceProfiles {
		for _, s := range r.ScopeProfiles {
			for _, profile := range s.Profiles {
				if d.StringTable[profile.SampleType.TypeStrindex] != kind {
					continue
				}
				for _, sample := range profile.Samples {
					var frames []string
					for _, l := range d.StackTable[sample.StackIndex].LocationIndices {
						frames = append(frames, d.StringTable[d.FunctionTable[d.LocationTable[l].Lines[0].FunctionIndex].NameStrindex])
					}
					n, _ := strconv.ParseInt(sample.Values[0], 10, 64)
					of[strings.Join(frames, "\n")] += n
				}
			}
		}
	}
}

// TestProfiles: profiles of a program pass through a Collector, with the process, and
// with types and methods by their names.
func TestProfiles(t *testing.T) {
	var mu sync.Mutex
	bytes, objects, attributes := make(map[string]int64), make(map[string]int64), make(map[string]string)
	behind := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var p profiles
		if err == nil {
			err = json.Unmarshal(body, &p)
		}
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		p.sums("alloc_space", bytes)
		p.sums("alloc_objects", objects)
		for _, a := range p.ResourceProfiles[0].Resource.Attributes {
			attributes[a.Key] = a.Value.StringValue + a.Value.IntValue
		}
	}))
	defer behind.Close()
	to := startProfilesCollector(t, behind.URL)
	file := dotnettest.Install(t, 10)
	name := filepath.Base(file)
	agent := &program{
		name: "agent", ready: func() bool { return true },
		command: []string{
			binary(t), "agent", "--listen", fmt.Sprintf("127.0.0.1:%d", port(t)), "--name", name, "--ledger", "",
			"--profiles", "otlp+" + to, "--profile-interval", "1s",
		},
	}
	agent.run(t)
	program := dotnettest.StartFile(t, file, "web", 300)
	named := func() (all, named int64) {
		for frames, n := range bytes {
			all += n
			if strings.HasPrefix(frames, "Type ") && strings.Contains(frames, "\nGcLoad") {
				named += n
			}
		}
		return all, named
	}
	eventually(t, "no profile with names has come", func() bool {
		mu.Lock()
		defer mu.Unlock()
		all, named := named()
		return all > 0 && named > all/2 && len(objects) > 0
	})
	mu.Lock()
	defer mu.Unlock()
	if attributes["process.pid"] != strconv.Itoa(program.PID) || attributes["process.executable.name"] != name {
		t.Errorf("attributes %v, want those of %s %d", attributes, name, program.PID)
	}
}
