package export

import (
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// A CSV writes collections as comma-separated values (RFC 4180): a line with the names of the
// columns, then a line for each collection. Unknown values are empty. Sizes are bytes and times
// milliseconds; the names of columns include the unit. Text that a spreadsheet would take for a
// formula is preceded by ', and control characters become question marks. The zero CSV has no
// columns.
type CSV struct {
	Columns []figure.Figure
	Raw     bool // write text unchanged, even if it looks like a formula
}

// AppendHeader appends the line with the names.
func (w *CSV) AppendHeader(dst []byte) []byte {
	return appendLine(dst, len(w.Columns), func(dst []byte, i int) []byte { return appendText(dst, w.Columns[i].Key) })
}

// AppendCollection appends the line of c.
func (w *CSV) AppendCollection(dst []byte, c *gc.Collection) []byte {
	return appendLine(dst, len(w.Columns), func(dst []byte, i int) []byte { return w.appendValue(dst, w.Columns[i].Value(c)) })
}

// AppendRow appends a line of values.
func (w *CSV) AppendRow(dst []byte, values []figure.Value) []byte {
	return appendLine(dst, len(values), func(dst []byte, i int) []byte { return w.appendValue(dst, values[i]) })
}

// appendLine appends a line of n fields, each of which field appends.
func appendLine(dst []byte, n int, field func(dst []byte, i int) []byte) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = field(dst, i)
	}
	return append(dst, '\n')
}

func (w *CSV) appendValue(dst []byte, v figure.Value) []byte {
	switch v.Type {
	case figure.Text:
		if ordinary(v.Text) {
			return append(dst, v.Text...)
		}
		return appendText(dst, w.word(v.Text))
	case figure.Numbers:
		return append(dst, v.Text...)
	case figure.List:
		return appendText(dst, w.word(strings.ReplaceAll(strings.TrimSuffix(v.Text, "\n"), "\n", ";")))
	case figure.Int, figure.Bytes:
		return strconv.AppendInt(dst, v.Int, 10)
	case figure.Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case figure.Millis:
		return trace.Millis(v.Int).Append(dst)
	case figure.Float, figure.Percent:
		return strconv.AppendFloat(dst, v.Float(), 'f', -1, 64)
	default:
		return dst
	}
}

// appendText quotes s if it would otherwise end the field.
func appendText(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// ordinary reports whether all of a text is ASCII letters, digits, periods and underscores,
// as almost all words in collections are.
func ordinary(s string) bool {
	for i := range len(s) {
		c := s[i]
		if letter := c | 0x20; (letter < 'a' || letter > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

// word returns a word that neither a spreadsheet nor a terminal obeys.
func (w *CSV) word(s string) string {
	if w.Raw {
		return s
	}
	if formula(s) {
		return "'" + jsontext.Clean(s)
	}
	return jsontext.Clean(s)
}

// formula reports whether a spreadsheet takes a cell for a formula. A number is
// none.
func formula(s string) bool {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil || s[len(s)-1] > '9' // infinities are no numbers there
}
