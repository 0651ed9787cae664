package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// compares compares two files that are selected in the Explorer, the first from before.
func (w *workbench) compares() {
	w.click(row("run1.nettrace.gz"))
	w.active("run1.nettrace.gz")
	w.wait(reportedIn("true"))
	w.click(row("run2.nettrace.gz"), chromedp.ButtonModifiers(chromedp.ModifierCtrl))
	w.wait(`document.querySelectorAll(".explorer-folders-view .monaco-list-row.selected").length === 2`)
	w.menu(row("run2.nettrace.gz"), "Compare...", asking(fromBefore))
	w.compared()
	w.shoot("code-compare")
}

// fromBefore is in a question of the comparison.
const fromBefore = "from before"

// compared takes the first of two runs as the one from before, as it is proposed, and waits for
// the comparison.
func (w *workbench) compared() {
	w.Helper()
	w.wait(asking(fromBefore))
	w.key(kb.Enter)
	w.active("run1.nettrace.gz ↔ run2.nettrace.gz")
	w.wait(reportedIn(`d.querySelector(".verdict .sentence").textContent.length > 20`))
}

// comparesChosen compares files that dialogues ask for, one after the other because VS Code's own
// dialogue lets one be chosen.
func (w *workbench) comparesChosen(folder string) {
	w.run("View: Close All Editors")
	w.run("gctrail: Compare...")
	w.answer("Choose runs", filepath.Join(folder, "run1.nettrace.gz"))
	w.answer("Choose another", filepath.Join(folder, "run2.nettrace.gz"))
	w.compared()
}

// saves saves the report on a trace as JSON, beside it, as VS Code proposes.
func (w *workbench) saves(folder string) {
	w.open("stacks.nettrace")
	w.wait(reportedIn("true"))
	w.save("report", "stacks.json")
	got, err := os.ReadFile(filepath.Join(folder, "stacks.json"))
	w.must(err)
	if want := reported(w.T, filepath.Join(folder, "stacks.nettrace")); string(got) != want {
		w.Error(firstDifference(string(got), want))
	}
}

// save chooses an entry of the editor's menu, and takes the name that is proposed.
func (w *workbench) save(entry, name string) {
	w.Helper()
	w.clickOn(viewed(`v.querySelector(".bar summary")`))
	w.press(entry)
	w.wait(fmt.Sprintf(`document.activeElement?.closest(".quick-input-widget") && document.activeElement.value.endsWith(%q)`, name))
	w.key(kb.Enter)
	w.notified(name + " is saved.")
	w.clickOn(viewed(`v.querySelector(".bar summary")`))
}

// redacts removes the names of the program from a report, and saves it.
func (w *workbench) redacts(folder string) {
	w.open("stacks.nettrace")
	w.wait(reportedIn(`d.body.textContent.includes("GcLoad")`))
	w.press("Redact")
	w.wait(viewed(`v.querySelector(".bar").textContent.includes("Redacted")`))
	w.wait(reportedIn(`d.querySelector(".flame td.code") && !d.body.textContent.includes("GcLoad")`))
	w.shoot("code-redacted")
	w.save("report", "redacted.json")
	got, err := os.ReadFile(filepath.Join(folder, "redacted.json"))
	w.must(err)
	if len(got) == 0 || strings.Contains(string(got), "GcLoad") {
		w.Errorf("%d bytes with the names of the program", len(got))
	}
	w.run("View: Close All Editors")
}

// watches shows the processes of the machine in a terminal.
func (w *workbench) watches() {
	terminals(w.T)
	w.run("gctrail: Watch the Processes of This Machine")
	w.wait(`/gctrail top/.test(document.querySelector(".xterm-rows")?.textContent)`)
	w.shoot("code-top")
	w.run("Terminal: Kill All Terminals")
	w.wait(`!document.querySelector(".xterm-rows")`)
}

// listed asks for processes to record, and reports whether the list has one, which is the first
// then. It lacks a process that has just begun, or one that does not answer in a second because the machine is busy.
func (w *workbench) listed(name, pid string) bool {
	w.Helper()
	w.run("gctrail: Record a Process...")
	w.wait(asking("A .NET process of this machine"))
	w.wait(`document.querySelector(".quick-input-list")?.textContent.includes("Another process...")`)
	w.key(name)
	w.wait(fmt.Sprintf(`document.activeElement.value === %q`, name))
	w.settle()
	return eval[bool](w.tab, fmt.Sprintf(`document.querySelector(".quick-input-list .monaco-list-row.focused")?.textContent.includes(%q) ?? false`, pid))
}

// records records a process that is chosen from the list of all, and opens its trace.
func (w *workbench) records(folder string) {
	terminals(w.T)
	program := dotnettest.Start(w.T, 10, "web", 600)
	pid := strconv.Itoa(program.PID)
	for !w.listed(program.Name, pid) {
		w.key(kb.Escape)
	}
	w.key(kb.Enter)
	w.answer("For how many seconds", "1")
	w.answer("Save the trace as", filepath.Join(folder, "recorded.nettrace"))
	w.active("recorded.nettrace")
	w.wait(reportedIn(`d.querySelector(".verdict .sentence").textContent.length > 20`))
	w.shoot("code-record")
	if got, want := eval[string](w.tab, reportedIn(`d.querySelector(".verdict .sentence").textContent`)), verdict(w.T, filepath.Join(folder, "recorded.nettrace")); got != want {
		w.Errorf("%q, want %q", got, want)
	}
}
