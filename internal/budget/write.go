package budget

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
)

// Formats returns the names of the formats that Write writes.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

var formats = [...]struct {
	name  string
	write func(io.Writer, *Result) error
}{
	{"text", writeText},
	{"json", writeJSON},
	{"junit", writeJUnit},
	{"github", writeGitHub},
	{"markdown", writeMarkdown},
}

// Write writes the result in one of the Formats.
func Write(w io.Writer, format string, r *Result) error {
	for _, f := range formats {
		if f.name == format {
			return f.write(w, r)
		}
	}
	return fmt.Errorf("unknown format %q; valid formats: %s", format, strings.Join(Formats(), ", "))
}

// sentence returns the check in words: "longest pause 53.4 ms, limit 50 ms
// (a.nettrace)".
func (c *Check) sentence() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, limit %s", c.Text, c.value(), figure(c.Limit, c.Unit))
	if c.Run != "" {
		fmt.Fprintf(&b, " (%s)", c.Run)
	} else if bounded(c.Low) && bounded(c.High) {
		fmt.Fprintf(&b, " (95 %% interval %s to %s)", figure(c.Low, c.Unit), figure(c.High, c.Unit))
	}
	if c.Status == CannotTell && c.Reason != "" {
		fmt.Fprintf(&b, "; %s", c.Reason)
	}
	return b.String()
}

// value returns the value, marked if it is a lower bound.
func (c *Check) value() string {
	if !bounded(c.Value) {
		return figure(c.Value, c.Unit)
	}
	return comparison.Bounded(compare.Bounds{Low: c.Value, High: c.Most}, c.Unit)
}

func bounded(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// figure returns a value in its unit. An unknown value and an unbounded one differ.
func figure(v float64, unit compare.Unit) string {
	switch {
	case math.IsNaN(v):
		return "unknown"
	case math.IsInf(v, 0):
		return "unbounded"
	}
	return comparison.Figure(v, unit)
}

var marks = map[Status]string{Within: "ok", Over: "OVER", CannotTell: "inconclusive"}

var words = map[Status]string{
	Within:     "within the budget",
	Over:       "over the budget",
	CannotTell: "inconclusive",
}

func (r *Result) summary() string {
	over, unknown := 0, 0
	for i := range r.Checks {
		switch r.Checks[i].Status {
		case Over:
			over++
		case CannotTell:
			unknown++
		}
	}
	said := fmt.Sprintf("%s: %d of %s over", capital(words[r.Status]), over, text.Counted(len(r.Checks), "check"))
	if unknown > 0 {
		said += fmt.Sprintf(", %d inconclusive", unknown)
	}
	return said
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func writeText(w io.Writer, r *Result) error {
	p := text.Page{Unicode: true}
	p.Line("%s", r.summary())
	for i := range r.Checks {
		c := &r.Checks[i]
		p.Line("  %-12s  %s", marks[c.Status], c.sentence())
	}
	return text.NewPrinter(w).Page(&p)
}

func writeMarkdown(w io.Writer, r *Result) error {
	p := text.Page{Unicode: true}
	p.Line("**%s**\n\n| | metric | value | limit | run |\n|---|---|---:|---:|---|", r.summary())
	for i := range r.Checks {
		c := &r.Checks[i]
		p.Line("| %s | %s | %s | %s | %s |", marks[c.Status], text.Markdown(c.Text), c.value(), figure(c.Limit, c.Unit), text.Markdown(c.Run))
	}
	return text.NewPrinter(w).Page(&p)
}

// writeGitHub writes workflow commands: an error for each check that fails, a warning for
// each undecided one.
func writeGitHub(w io.Writer, r *Result) error {
	escape := func(s string) string { return strings.ReplaceAll(text.Clean(s), "%", "%25") }
	var b strings.Builder
	for i := range r.Checks {
		c := &r.Checks[i]
		switch {
		case r.fails(c):
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
	Name       string   `json:"name"`
	Status     Status   `json:"status"`
	Run        string   `json:"run,omitempty"`
	Unit       string   `json:"unit"`
	Value      *float64 `json:"value"`
	Most       *float64 `json:"value_max"`
	Limit      float64  `json:"limit"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	RunsNeeded int      `json:"runs_needed,omitempty"`
	Reason     string   `json:"reason,omitempty"`
}

func writeJSON(w io.Writer, r *Result) error {
	checks := make([]jsonCheck, 0, len(r.Checks))
	for i := range r.Checks {
		c := &r.Checks[i]
		j := jsonCheck{Name: c.Name, Status: c.Status, Run: c.Run, Unit: string(c.Unit), Value: number(c.Value), Most: number(c.Most), Limit: c.Limit, RunsNeeded: c.RunsNeeded, Reason: c.Reason}
		if c.Run == "" {
			j.Low, j.High = number(c.Low), number(c.High)
		}
		checks = append(checks, j)
	}
	return jsontext.Encode(w, struct {
		SchemaVersion int         `json:"schema_version"`
		Status        Status      `json:"status"`
		Failed        bool        `json:"failed"`
		Checks        []jsonCheck `json:"checks"`
	}{1, r.Status, r.Failed(), checks})
}

// number returns null for numbers that JSON lacks.
func number(v float64) *float64 {
	if !bounded(v) {
		return nil
	}
	return &v
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

// writeJUnit writes a test case for each check, in a suite for each run. An undecided
// check is skipped, or fails if the budget demands it.
func writeJUnit(w io.Writer, r *Result) error {
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
		case r.fails(c):
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
