package comparison

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
)

// CheckFormats returns the names of the formats that WriteCheck writes.
func CheckFormats() []string {
	return text.Each(checkWriters, func(f *checkWriter) string { return f.name })
}

type checkWriter struct {
	name  string
	write func(io.Writer, *CheckResult) error
}

var checkWriters = []checkWriter{
	{"text", writeCheckText},
	{"json", writeCheckJSON},
	{"junit", writeCheckJUnit},
	{"github", writeCheckGitHub},
	{"markdown", writeCheckMarkdown},
}

// WriteCheck writes the result in one of the CheckFormats.
func WriteCheck(w io.Writer, format string, r *CheckResult) error {
	for _, f := range checkWriters {
		if f.name == format {
			return f.write(w, r)
		}
	}
	return fmt.Errorf("unknown format %q; valid formats: %s", format, strings.Join(CheckFormats(), ", "))
}

// sentence returns the check in words: "longest pause 53.4 ms, limit 50 ms
// (a.nettrace)".
func (c *Check) sentence() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, limit %s", c.Text, c.value(), checkFigure(c.Limit, c.Unit))
	if c.Run != "" {
		fmt.Fprintf(&b, " (%s)", c.Run)
	} else if finite(c.Low) && finite(c.High) {
		fmt.Fprintf(&b, " (95 %% interval %s to %s)", checkFigure(c.Low, c.Unit), checkFigure(c.High, c.Unit))
	}
	if c.Status == CannotTell && c.Reason != "" {
		fmt.Fprintf(&b, "; %s", c.Reason)
	}
	return b.String()
}

// value returns the value, marked if it is an estimate or a lower bound.
func (c *Check) value() string {
	if !finite(c.Value) {
		return checkFigure(c.Value, c.Unit)
	}
	return bounded(compare.Bounds{Low: c.Value, High: c.Most, Likely: c.Likely}, c.Unit)
}

// figure returns a value in its unit. An unknown value and an unbounded one differ.
func checkFigure(v float64, unit compare.Unit) string {
	switch {
	case math.IsNaN(v):
		return "unknown"
	case math.IsInf(v, 0):
		return "unbounded"
	}
	return figure(v, unit)
}

var statusMarks = map[CheckStatus]string{Within: "ok", Over: "OVER", CannotTell: "inconclusive"}

var statusWords = map[CheckStatus]string{
	Within:     "within the budget",
	Over:       "over the budget",
	CannotTell: "inconclusive",
}

func (r *CheckResult) summary() string {
	over, unknown := 0, 0
	for i := range r.Checks {
		switch r.Checks[i].Status {
		case Over:
			over++
		case CannotTell:
			unknown++
		}
	}
	said := fmt.Sprintf("%s: %d of %s over", text.Sentence(statusWords[r.Status]), over, text.Counted(len(r.Checks), "check"))
	if unknown > 0 {
		said += fmt.Sprintf(", %d inconclusive", unknown)
	}
	return said
}

func writeCheckText(w io.Writer, r *CheckResult) error {
	p := text.Page{Unicode: true}
	p.Line("%s", r.summary())
	for i := range r.Checks {
		c := &r.Checks[i]
		p.Line("  %-12s  %s", statusMarks[c.Status], c.sentence())
	}
	return text.NewPrinter(w).Page(&p)
}

func writeCheckMarkdown(w io.Writer, r *CheckResult) error {
	p := text.Page{Unicode: true}
	p.Line("**%s**\n\n| | metric | value | limit | run |\n|---|---|---:|---:|---|", r.summary())
	for i := range r.Checks {
		c := &r.Checks[i]
		p.Line("| %s | %s | %s | %s | %s |", statusMarks[c.Status], text.Markdown(c.Text), c.value(), checkFigure(c.Limit, c.Unit), text.Markdown(c.Run))
	}
	return text.NewPrinter(w).Page(&p)
}

// writeCheckGitHub writes workflow commands: an error for each check that fails, a warning for
// each undecided one.
func writeCheckGitHub(w io.Writer, r *CheckResult) error {
	escape := func(s string) string { return strings.ReplaceAll(text.Clean(s), "%", "%25") }
	var b strings.Builder
	for i := range r.Checks {
		c := &r.Checks[i]
		switch {
		case r.fails(c.Status):
			fmt.Fprintf(&b, "::error title=GC budget::%s\n", escape(c.sentence()))
		case c.Status == CannotTell:
			fmt.Fprintf(&b, "::warning title=GC budget::%s\n", escape(c.sentence()))
		}
	}
	fmt.Fprintf(&b, "::notice title=GC budget::%s\n", escape(r.summary()))
	_, err := io.WriteString(w, b.String())
	return err
}

type jsonCheck struct {
	Name       string      `json:"name"`
	Status     CheckStatus `json:"status"`
	Run        string      `json:"run,omitempty"`
	Unit       string      `json:"unit"`
	Value      *float64    `json:"value"`
	Most       *float64    `json:"value_max"`
	Limit      float64     `json:"limit"`
	Low        *float64    `json:"low,omitempty"`
	High       *float64    `json:"high,omitempty"`
	RunsNeeded int         `json:"runs_needed,omitempty"`
	Reason     string      `json:"reason,omitempty"`
}

func writeCheckJSON(w io.Writer, r *CheckResult) error {
	checks := text.Each(r.Checks, func(c *Check) jsonCheck {
		j := jsonCheck{Name: c.Name, Status: c.Status, Run: c.Run, Unit: string(c.Unit), Value: jsontext.Number(c.Value), Most: jsontext.Number(c.Most), Limit: c.Limit, RunsNeeded: c.RunsNeeded, Reason: c.Reason}
		if c.Run == "" {
			j.Low, j.High = jsontext.Number(c.Low), jsontext.Number(c.High)
		}
		return j
	})
	return jsontext.Encode(w, struct {
		SchemaVersion int         `json:"schema_version"`
		Status        CheckStatus `json:"status"`
		Failed        bool        `json:"failed"`
		Checks        []jsonCheck `json:"checks"`
	}{1, r.Status, r.Failed(), checks})
}

type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Skipped *junitMessage `xml:"skipped"`
		Failure *junitMessage `xml:"failure"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// writeCheckJUnit writes a test case for each check, in a suite for each run. An undecided
// check is skipped, or fails if the budget demands it.
func writeCheckJUnit(w io.Writer, r *CheckResult) error {
	var out junitSuites
	for i := range r.Checks {
		c := &r.Checks[i]
		name := cmp.Or(text.Clean(c.Run), "baseline")
		at := slices.IndexFunc(out.Suites, func(s junitSuite) bool { return s.Name == name })
		if at < 0 {
			out.Suites = append(out.Suites, junitSuite{Name: name})
			at = len(out.Suites) - 1
		}
		suite := &out.Suites[at]
		test := junitCase{Name: c.Name, Class: "gctrail.check"}
		suite.Tests++
		switch {
		case r.fails(c.Status):
			suite.Failures++
			test.Failure = &junitMessage{text.Clean(c.sentence())}
		case c.Status == CannotTell:
			suite.Skipped++
			test.Skipped = &junitMessage{text.Clean(c.sentence())}
		}
		suite.Cases = append(suite.Cases, test)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
