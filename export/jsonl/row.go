package jsonl

import (
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/export/internal/millis"
	"github.com/gctrail/gctrail/internal/jsontext"
)

// AppendRow appends a line with the values under their names. Unknown values
// are null.
func AppendRow(dst []byte, names []string, values []column.Value) []byte {
	w := writer{append(dst, '{')}
	for i, v := range values {
		w.key(names[i])
		w.value(&v)
	}
	return append(w.dst, '}', '\n')
}

func (w *writer) value(v *column.Value) {
	switch v.Type {
	case column.Text:
		w.dst = jsontext.AppendString(w.dst, v.Text)
	case column.Int, column.Bytes:
		w.dst = strconv.AppendInt(w.dst, v.Int, 10)
	case column.Bool:
		w.dst = strconv.AppendBool(w.dst, v.Int != 0)
	case column.Millis:
		w.dst = millis.Append(w.dst, time.Duration(v.Int))
	case column.Float, column.Percent:
		w.dst = appendFloat(w.dst, v.Float)
	case column.List:
		w.dst = append(w.dst, '[')
		comma := false
		for word := range strings.Lines(v.Text) {
			if comma {
				w.dst = append(w.dst, ',')
			}
			w.dst = jsontext.AppendString(w.dst, strings.TrimSuffix(word, "\n"))
			comma = true
		}
		w.dst = append(w.dst, ']')
	default:
		w.null()
	}
}
