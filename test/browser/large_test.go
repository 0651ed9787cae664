package browser

import (
	"fmt"
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
// how much memory the browser's process of the page takes for it, each in a browser of its own.
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
			b := openTab(t, size{1280, 800}, server.URL+"/")
			browser := chromedp.FromContext(b.ctx).Browser.Process().Pid
			before, _ := memory(browser)
			start := time.Now()
			b.choose(path)
			eval[bool](b, `new Promise((done) => {
				const look = () => document.querySelector("iframe, .failure") ? done(true) : setTimeout(look, 20);
				look();
			})`)
			b.wait(framed("true"))
			took := time.Since(start)
			now, peak := memory(browser)
			t.Logf("%d MB opened in %.1f s; memory of the page's process %d MB before, %d MB after, %d MB at most",
				info.Size()/1e6, took.Seconds(), before, now, peak)
		})
	}
}

// resident finds the memory of a process, in kB, now and at most, in Linux's status of it.
var resident = regexp.MustCompile(`Vm(HWM|RSS):\s+(\d+) kB`)

// memory returns the resident memory, in MB, of the largest process that draws pages for a
// browser, now and at most. It is 0 where there is no /proc.
func memory(browser int) (now, peak int) {
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
		now, peak = max(now, values["RSS"]/1000), max(peak, values["HWM"]/1000)
	}
	return now, peak
}

// descends reports whether a process was started by another, or by one that it started.
func descends(process string, from int) bool {
	for range 10 {
		stat, err := os.ReadFile(filepath.Join(process, "stat"))
		if err != nil {
			return false
		}
		var state string
		var parent int
		if _, err := fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &state, &parent); err != nil {
			return false
		}
		if parent == from {
			return true
		}
		process = filepath.Join("/proc", strconv.Itoa(parent))
	}
	return false
}
