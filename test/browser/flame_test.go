package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/internal/units"
)

// allocating are the stacks that allocate in a trace, without the types, and their bytes.
func allocating(t *testing.T, path string) map[string]int64 {
	t.Helper()
	out := filepath.Join(t.TempDir(), "stacks")
	gctrail(t, "convert", "--to", "collapsed", "-o", out, path)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	stacks := make(map[string]int64)
	for line := range strings.Lines(string(data)) {
		at := strings.LastIndexByte(line, ' ')
		bytes, err := strconv.ParseInt(strings.TrimSpace(line[at:]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		stack, _, _ := strings.Cut(line[:at], ";Type ")
		stacks[stack] += bytes
	}
	return stacks
}

// TestFlame: a search of the flame graph shows the share of what it finds, which is that of
// the stacks that gctrail convert writes; inverted, the method that allocates most is on top;
// and the graph of one method has all of its calls.
func TestFlame(t *testing.T) {
	t.Parallel()
	const trace, wanted = "net10-wks-stacks.nettrace.gz", "AddWithResize"
	var all, found int64
	own, with := make(map[string]int64), make(map[string]int64)
	for stack, bytes := range allocating(t, fixture(trace)) {
		frames := strings.Split(stack, ";")
		all += bytes
		if strings.Contains(stack, wanted) {
			found += bytes
		}
		own[frames[len(frames)-1]] += bytes
		counted := make(map[string]bool)
		for _, f := range frames {
			if !counted[f] {
				with[f] += bytes
			}
			counted[f] = true
		}
	}
	most := ""
	for method, bytes := range own {
		if bytes > own[most] {
			most = method
		}
	}
	b := newTab(t, size{1280, 900})
	url := pageOf(t, fixture(trace))
	b.open(url)
	b.wait(`document.querySelector(".flame canvas")`)
	b.focus(".flame-head input")
	b.key(wanted)
	share := units.Percent(100 * float64(found) / float64(all))
	b.wait(fmt.Sprintf(`document.querySelector(".flame .found b")?.textContent === %q`, share))
	b.key(kb.Enter)
	b.wait(fmt.Sprintf(`!document.querySelector(".flame-head button").disabled && document.querySelector(".flame .pointed").textContent.includes(%q)`, wanted))
	b.shoot("flame-found")
	b.key(kb.Escape)
	b.wait(`!document.querySelector(".flame .found")`)

	b.click(`.flame-head button:nth-of-type(2)`)
	b.wait(`document.querySelector(".flame-head [aria-pressed=true]")`)
	b.focus(".flame canvas")
	b.key(kb.ArrowDown)
	b.wait(fmt.Sprintf(`document.querySelector(".flame .pointed").textContent.startsWith(%q)`, most+": "+units.Bytes(own[most])))
	b.click(`.flame-head button:nth-of-type(2)`)
	b.wait(`!document.querySelector(".flame-head [aria-pressed=true]")`)

	b.click(".flame .methods summary")
	b.click(".flame .methods tbody tr:nth-child(1) button")
	b.wait(fmt.Sprintf(`document.querySelector(".flame .pointed").textContent.endsWith(%q)`, units.Bytes(with[most])+" ("+units.Percent(100*float64(with[most])/float64(all))+" of all)"))
	b.shoot("flame-only")
	b.click(".flame-head .only")
	b.wait(`document.querySelector(".flame .pointed").textContent.endsWith(" in all")`)
	b.blameless("GET " + url)
}
