package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/trial"
)

// triedResults returns the results of trials of made-up runs: with a gain that costs memory,
// and with settings under which the program fails.
func triedResults() []*trial.Result {
	run := func(works bool) *trial.Result {
		var clock time.Time
		set, err := trial.ParseSetting("GCLOHThreshold=200kB,gcConcurrent=false")
		if err != nil {
			panic(err) // it is a setting
		}
		e := trial.Experiment{
			Settings: []trial.Setting{{Name: trial.Present}, set}, Now: func() time.Time { return clock },
			Run: func(_ context.Context, s *trial.Setting, round int) trial.Run {
				clock = clock.Add(time.Second)
				if s.Name != trial.Present && !works {
					return trial.Run{Outcome: trial.Failed, Code: 134, Reason: "exit code 134", Output: "try/x.out"}
				}
				r := trial.Run{Values: trial.Unknown(), Trace: "try/x.nettrace"}
				factor := 1 + 0.001*float64(round%3)
				if s.Name != trial.Present {
					factor *= 2
				}
				r.Values[trial.Work], r.Values[trial.Memory], r.Values[trial.ProcessorPerWork] = 100*factor, 1e8*factor, 4/factor
				return r
			},
		}
		return e.Do(context.Background())
	}
	return []*trial.Result{run(true), run(false)}
}

func TestTryText(t *testing.T) {
	r := triedResults()
	for i, want := range [][]string{
		{
			"GCLOHThreshold=200kB,gcConcurrent=false: processor time per unit of work 50 %\nless, work 2 times for 100 MB more peak memory.",
			"better   work", "worse    peak memory", "DOTNET_GCLOHThreshold=0x30D40\n  DOTNET_gcConcurrent=0x0",
			`"System.GC.LOHThreshold": 200000, "System.GC.Concurrent": false`, `- name: DOTNET_gcConcurrent`,
		},
		{"Nothing helps: the program fails under every setting that was tried.", "exit code 134, 2 of 2 runs; the\n  output is in try/x.out"},
	} {
		p := text.PageOn(text.Terminal{Width: 80})
		r[i].WriteText(p)
		markdown := text.PageOn(text.Terminal{})
		r[i].WriteMarkdown(markdown)
		var page strings.Builder
		if err := r[i].WritePage(&page); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(p.String(), w) {
				t.Errorf("the text lacks %q:\n%s", w, p.String())
			}
		}
		if says := r[i].Says(); !strings.Contains(page.String(), says) || !strings.Contains(markdown.String(), text.Markdown(says)) {
			t.Errorf("the page or the Markdown lacks %q:\n%s\n%s", says, page.String(), markdown.String())
		}
	}
}

// TestTryPicture: the picture of the front has an interval in both directions at each setting.
func TestTryPicture(t *testing.T) {
	var page strings.Builder
	if err := triedResults()[0].WritePage(&page); err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(page.String(), "<circle") // behind the axes, and the intervals of one setting
	var across, up int
	for _, line := range regexp.MustCompile(`<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"/>`).FindAllStringSubmatch(picture, -1) {
		if line[1] != line[3] {
			across++
		}
		if line[2] != line[4] {
			up++
		}
	}
	if across != 1 || up != 1 {
		t.Errorf("%d intervals across, %d up, want one of each: %s", across, up, picture)
	}
}

// TestTryShell runs programs that are no .NET programs: that is a result, and what they leave
// behind ends with them.
func TestTryShell(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	for _, tt := range []struct {
		script, says string
		args         []string
	}{
		{script: "echo ready; exit 3", says: "No result: the program fails under its present settings (exit code 3, 2 of 2 runs)"},
		{script: "exit 0", says: "it ended without connecting for tracing"},
		{script: "read x", says: "it did not end within 100ms", args: []string{"--timeout", "100ms"}},
	} {
		t.Run(tt.script, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"try", "--set", "gcServer=1", "--output-dir", t.TempDir()}, tt.args...)
			code, out, talk := gctrail(t.Context(), append(args, "--", "sh", "-c", tt.script)...)
			if code != exitDone || !strings.Contains(strings.ReplaceAll(out, "\n", " "), tt.says) {
				t.Errorf("exit code %d, want %q: %s%s", code, tt.says, out, talk)
			}
		})
	}
}

// TestTryOutput: an output that cannot be written ends a trial before it runs the program.
func TestTryOutput(t *testing.T) {
	folder, begun := t.TempDir(), filepath.Join(t.TempDir(), "begun")
	code, out, talk := gctrail(t.Context(), "try", "--set", "gcServer=1", "--output-dir", t.TempDir(), "-o", folder, "--", "sh", "-c", `echo >"$0"`, begun)
	if _, err := os.Stat(begun); err == nil || code == exitDone || !strings.Contains(talk, folder) {
		t.Errorf("exit code %d, the program ran: %t: %s%s", code, err == nil, out, talk)
	}
}

// TestTryRuntime checks the program and the environment of each candidate, as a host that only
// prints them sees them: that of --runtime is the folder's own, with the folder as DOTNET_ROOT.
func TestTryRuntime(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	own, other, dir := t.TempDir(), t.TempDir(), t.TempDir()
	for _, root := range []string{own, other} {
		const host = "#!/bin/sh\necho \"$0 $*, root $DOTNET_ROOT, server $DOTNET_gcServer $COMPlus_gcServer\"\n"
		if err := errors.Join(os.Mkdir(filepath.Join(root, "shared"), 0o755), os.WriteFile(filepath.Join(root, "dotnet"), []byte(host), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", own+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, value := range map[string]string{"DOTNET_ROOT": own, "DOTNET_gcServer": "", "COMPlus_gcServer": ""} {
		t.Setenv(name, value)
	}
	code, out, talk := gctrail(patient(t), "try", "--runtime", other, "--set", "gcServer=1", "--output-dir", dir, "--", "dotnet", "app.dll")
	if code != exitDone {
		t.Errorf("exit code %d: %s%s", code, out, talk)
	}
	for file, want := range map[string]string{
		"present-1.out":    own + "/dotnet app.dll, root " + own + ", server  \n",
		"gcServer=1-1.out": own + "/dotnet app.dll, root " + own + ", server 0x1 0x1\n",
		"runtime_" + strings.ReplaceAll(other, "/", "_") + "-1.out": other + "/dotnet app.dll, root " + other + ", server  \n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
			t.Errorf("%s is %q, want %q: %v", file, got, want, err)
		}
	}
}

// TestTryInterrupted checks the last words of an interrupted trial: in the first run, which
// settings are proposed from, and in the first round.
func TestTryInterrupted(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	for says, args := range map[string][]string{
		"Interrupted in the first run, before any setting was tried: nothing is known so far.": nil,
		"Interrupted in the first round.": {"--set", "gcServer=1"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			begun := filepath.Join(t.TempDir(), "begun")
			args = append([]string{"try", "--output-dir", t.TempDir()}, args...)
			ctx, interrupt := context.WithCancel(patient(t))
			ended := make(chan ran)
			go func() {
				code, out, talk := gctrail(ctx, append(args, "--", "sh", "-c", `echo >"$0"; read x`, begun)...)
				ended <- ran{out, talk, code}
			}()
			dotnettest.Until(ctx, t, "the program runs", func() bool {
				_, err := os.Stat(begun)
				return err == nil
			})
			interrupt()
			r := <-ended
			if r.code != exitInterrupted || !strings.Contains(strings.ReplaceAll(r.out, "\n", " "), says) {
				t.Errorf("exit code %d, want %q: %s%s", r.code, says, r.out, r.talk)
			}
		})
	}
}

// TestTryProgram tries a larger gen 0 in place of a tiny one, which makes pauses longer and
// fewer, and ends a server when its load has ended.
func TestTryProgram(t *testing.T) {
	extent.Long(t, "runs a program some times")
	program, dir := dotnettest.Install(t, 10), t.TempDir()
	t.Setenv("DOTNET_GCgen0size", "0x40000")
	code, out, talk := gctrail(context.Background(), "try", "--set", "GCgen0size=100M", "--budget", "10s", "--format", "json", "--output-dir", dir,
		"--work", `"total_allocated_bytes":(\d+)`, "--", program, "web", "1")
	var result struct {
		Settings []struct {
			Runs    int
			Metrics []struct {
				Name  string
				Value float64
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != exitDone || len(result.Settings) != 2 {
		t.Fatalf("exit code %d: %v: %s%s", code, err, out, talk)
	}
	medians := [2]float64{}
	for i, s := range result.Settings {
		if len(s.Metrics) < 6 || s.Runs == 0 { // Linux has the GC's processor time, too
			t.Errorf("%d runs, %v", s.Runs, s.Metrics)
		}
		for _, m := range s.Metrics {
			if m.Name == "pause_p50_ms" {
				medians[i] = m.Value
			}
		}
	}
	if medians[1] < 2*medians[0] {
		t.Errorf("the median pause is %v ms, with a larger gen 0 %v ms", medians[0], medians[1])
	}
	code, out, talk = gctrail(context.Background(), "try", "--set", "GCgen0size=100M", "--budget", "20s", "--output-dir", dir,
		"--load", "sleep 0.5; echo did 5", "--ready", ".", "--work", `did (\d)`, "--", program, "web", "60")
	if code != exitDone || !strings.Contains(out, "work  ") {
		t.Errorf("exit code %d: %s%s", code, out, talk)
	}
}
