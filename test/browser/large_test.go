package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestLarge measures how long the page takes to open the traces that GCTRAIL_LARGE names, and
// how much memory and time of processors the browser's process of the page takes for it, each in
// a browser of its own.
func TestLarge(t *testing.T) {
	paths := filepath.SplitList(os.Getenv("GCTRAIL_LARGE"))
	if len(paths) == 0 {
		t.Skip("GCTRAIL_LARGE names no traces")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			server := serveOpen(t)
			b := openIn(ownTab(t, 5*time.Minute, size{1280, 800}), server.URL+"/")
			browser := chromedp.FromContext(b.ctx).Browser.Process().Pid
			before := renderer(browser)
			start := time.Now()
			b.choose(path)
			eval[bool](b, `new Promise((done) => {
				const look = () => document.querySelector("iframe, .failure") ? done(true) : setTimeout(look, 20);
				look();
			})`)
			b.wait(framed("true"))
			took := time.Since(start)
			after := renderer(browser)
			t.Logf("%d MB opened in %.1f s; the page's process took %.1f s of processors, and %d MB before, %d MB after, %d MB at most",
				info.Size()/1e6, took.Seconds(), after.seconds-before.seconds, before.now, after.now, after.peak)
		})
	}
}

// usage is that of a process: resident memory in MB, now and at most, and the time of processors
// until now.
type usage struct {
	now, peak int
	seconds   float64
}

// resident finds the memory of a process, in kB, now and at most, in Linux's status of it.
var resident = regexp.MustCompile(`Vm(HWM|RSS):\s+(\d+) kB`)

// renderer returns the usage of the largest process that draws pages for a browser. It is
// nothing where there is no /proc.
func renderer(browser int) (largest usage) {
	statuses, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range statuses {
		arguments, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if !strings.Contains(string(arguments), "--type=renderer") || !descends(filepath.Dir(name), browser) {
			continue
		}
		status, _ := os.ReadFile(name)
		values := map[string]int{}
		for _, m := range resident.FindAllStringSubmatch(string(status), -1) {
			values[m[1]], _ = strconv.Atoi(m[2])
		}
		if u := (usage{values["RSS"] / 1000, values["HWM"] / 1000, spent(filepath.Dir(name))}); u.peak > largest.peak {
			largest = u
		}
	}
	return largest
}

// stat returns the fields of Linux's stat of a process from the third on, its state.
func stat(process string) []string {
	text, _ := os.ReadFile(filepath.Join(process, "stat"))
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// spent returns the seconds that a process has spent, in it and in the kernel.
func spent(process string) (seconds float64) {
	fields := stat(process)
	if len(fields) < 13 {
		return 0
	}
	for _, ticks := range fields[11:13] {
		n, _ := strconv.Atoi(ticks)
		seconds += float64(n) / 100
	}
	return seconds
}

// descends reports whether a process was started by another, or by one that it started.
func descends(process string, from int) bool {
	for range 10 {
		fields := stat(process)
		if len(fields) < 2 {
			return false
		}
		if fields[1] == strconv.Itoa(from) {
			return true
		}
		process = filepath.Join("/proc", fields[1])
	}
	return false
}
