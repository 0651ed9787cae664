package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// standIns are the files that documents name, and the ones of testdata that commands read in
// their place.
var standIns = map[string]string{
	"app.nettrace":                         "net9-srv-datas-web-collect.nettrace.gz",
	"earlier.nettrace":                     objectsToo,
	"nameless.nettrace":                    "net10-wks-leak.nettrace.gz",
	"other.nettrace":                       "net10-wks-leak.nettrace.gz",
	"heap.nettrace":                        "net10-wks-leak-event.nettrace.gz",
	"leak.nettrace":                        "net10-wks-leak.nettrace.gz",
	"pins.nettrace":                        "net10-wks-leak.nettrace.gz",
	"web.nettrace":                         "net10-wks-requests.nettrace.gz",
	"web8.nettrace":                        "net10-wks-stacks.nettrace.gz",
	"made-up.nettrace":                     "net10-wks-web-collect.nettrace.gz",
	"before.nettrace":                      "cures/collect-bad.nettrace.gz",
	"after.nettrace":                       "cures/collect-good.nettrace.gz",
	"b1.nettrace":                          "cures/runs/before/1.nettrace.gz",
	"b2.nettrace":                          "cures/runs/before/2.nettrace.gz",
	"a1.nettrace":                          "cures/runs/after/1.nettrace.gz",
	"a2.nettrace":                          "cures/runs/after/2.nettrace.gz",
	"app.gcdump":                           "net8-wks-rich.gcdump.gz",
	"before.gcdump":                        "net8-wks-rich.gcdump.gz",
	"after.gcdump":                         "net8-wks-rich.gcdump.gz",
	"gcload-net8_20261123_081427.nettrace": "net10-wks-web-collect.nettrace.gz",
}

// folderStandIns are the same for folders.
var folderStandIns = map[string]string{
	"before": "cures/runs/before", "after": "cures/runs/after", "baseline": "cures/runs/before", "main": "cures/runs/before", "branch": "cures/runs/after",
	"traces": "cures/runs/after", "nightly": "cures/runs/after",
}

// objectsToo stands in for app.nettrace where a command needs allocations, or a heap snapshot.
const objectsToo = "net10-wks-allocs-snapshot.nettrace.gz"

var (
	needsObjects = regexp.MustCompile(`gctrail (?:allocs|convert|objects) `)
	writesTo     = regexp.MustCompile(`(?:-o|--output|--init) (\S+?)/?(?: |$)`)
	word         = regexp.MustCompile(`[\w.-]+`)
)

// place makes the files in a folder that a command reads, from traces of testdata. Those that it
// writes are not there.
func place(folder, testdata, command string) error {
	copyOf := func(name, standIn string) error {
		content, err := os.ReadFile(filepath.Join(testdata, filepath.FromSlash(standIn)))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name), content, 0o666)
	}
	written := map[string]bool{}
	for _, m := range writesTo.FindAllStringSubmatch(command, -1) {
		written[m[1]] = true
	}
	for _, name := range word.FindAllString(command, -1) {
		standIn, known := standIns[name]
		if name == "app.nettrace" && needsObjects.MatchString(command) {
			standIn = objectsToo
		}
		if !known || written[name] {
			continue
		}
		if err := copyOf(name, standIn); err != nil {
			return err
		}
	}
	for _, arg := range strings.Fields(command) {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "~/"), "/")
		standIn, known := folderStandIns[name]
		if !known || written[name] {
			continue
		}
		if err := os.MkdirAll(filepath.Join(folder, name), 0o777); err != nil {
			return err
		}
		for i := range 5 {
			if err := copyOf(fmt.Sprintf("%s/build-%d.nettrace", name, i+1), fmt.Sprintf("%s/%d.nettrace.gz", standIn, i+1)); err != nil {
				return err
			}
		}
	}
	return nil
}
