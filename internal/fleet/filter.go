package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc/figure"
)

// A Filter selects rows.
type Filter struct {
	From, To time.Time // zero for no bound; To is not part of it
	Where    []Term    // all of them hold
}

// A Term is a condition on one column: a pattern for text, in which * matches anything,
// or a comparison for numbers. An unknown value matches only the empty pattern.
type Term struct {
	Column  string
	Op      string // "=", "!=", "<", "<=", ">", ">="
	Pattern string // of text
	Number  float64
}

// operators, the longer ones first.
var operators = []string{"!=", "<=", ">=", "=", "<", ">"}

// ParseTerm reads a term of a table, such as k8s_pod=shop-* or pause_ms>=50.
func ParseTerm(t *Table, s string) (Term, error) {
	at := strings.IndexAny(s, "!<>=")
	if at < 0 {
		return Term{}, fmt.Errorf("%q has no operator: write COLUMN=PATTERN or COLUMN>=NUMBER", s)
	}
	term := Term{Column: strings.TrimSpace(s[:at])}
	for _, op := range operators {
		if strings.HasPrefix(s[at:], op) {
			term.Op = op
			break
		}
	}
	i, ok := t.index[term.Column]
	switch {
	case term.Op == "":
		return Term{}, fmt.Errorf("%q has no operator: one of %s", s, strings.Join(operators, " "))
	case !ok:
		return Term{}, fmt.Errorf("no column %q in table %s", term.Column, t.Name)
	}
	value := strings.TrimSpace(s[at+len(term.Op):])
	switch t.Columns[i].Type {
	case figure.Text:
		if term.Op != "=" && term.Op != "!=" {
			return Term{}, fmt.Errorf("%s is text: compare it with = or !=", term.Column)
		}
		term.Pattern = value
		return term, nil
	case figure.Bool:
		truth, err := strconv.ParseBool(value)
		if err != nil {
			return Term{}, fmt.Errorf("%s is true or false, not %q", term.Column, value)
		}
		if truth {
			term.Number = 1
		}
		return term, nil
	}
	var err error
	if term.Number, err = strconv.ParseFloat(value, 64); err != nil {
		return Term{}, fmt.Errorf("%s is a number, not %q", term.Column, value)
	}
	return term, nil
}

// keeps reports whether a row of t is selected.
func (f *Filter) keeps(t *Table, r Row) bool {
	at := t.Time(r)
	if !f.From.IsZero() && at.Before(f.From) || !f.To.IsZero() && !at.Before(f.To) {
		return false
	}
	return !slices.ContainsFunc(f.Where, func(term Term) bool { return !term.holds(t.Value(r, term.Column)) })
}

// day reports whether a folder of the form day=YYYYMMDD may have selected rows.
func (f *Filter) day(name string) bool {
	at, err := time.Parse("day=20060102", name)
	if err != nil {
		return false
	}
	return (f.From.IsZero() || at.AddDate(0, 0, 1).After(f.From)) && (f.To.IsZero() || at.Before(f.To))
}

func (term *Term) holds(v figure.Value) bool {
	if v.Type == figure.Text || v.Type == figure.Unknown && term.isText() {
		return matches(term.Pattern, v.Text) == (term.Op == "=")
	}
	n, known := v.InFiles()
	if !known {
		return false
	}
	switch term.Op {
	case "=":
		return n == term.Number
	case "!=":
		return n != term.Number
	case "<":
		return n < term.Number
	case "<=":
		return n <= term.Number
	case ">":
		return n > term.Number
	default:
		return n >= term.Number
	}
}

func (term *Term) isText() bool {
	for _, t := range Tables() {
		if i, ok := t.index[term.Column]; ok {
			return t.Columns[i].Type == figure.Text
		}
	}
	return false
}

// matches reports whether s matches a pattern, in which * matches anything.
func matches(pattern, s string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(s, part)
		}
		at := strings.Index(s, part)
		if at < 0 {
			return false
		}
		s, rest = s[at+len(part):], more
	}
}

// sql is the filter as conditions of a query.
func (f *Filter) sql() string {
	conditions := []string{"1"}
	add := func(format string, args ...any) { conditions = append(conditions, fmt.Sprintf(format, args...)) }
	if !f.From.IsZero() {
		add("time >= fromUnixTimestamp64Nano(toInt64(%d))", f.From.UnixNano())
	}
	if !f.To.IsZero() {
		add("time < fromUnixTimestamp64Nano(toInt64(%d))", f.To.UnixNano())
	}
	for i := range f.Where {
		add("%s", f.Where[i].sql())
	}
	return strings.Join(conditions, " AND ")
}

func (term *Term) sql() string {
	name := quoteName(term.Column)
	if !term.isText() {
		return fmt.Sprintf("%s %s %s", name, term.Op, strconv.FormatFloat(term.Number, 'g', -1, 64))
	}
	like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`, "*", "%").Replace(term.Pattern)
	if term.Op == "!=" {
		return fmt.Sprintf("NOT %s LIKE %s", name, quoteText(like))
	}
	return fmt.Sprintf("%s LIKE %s", name, quoteText(like))
}
