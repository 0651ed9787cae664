package jsonl

import (
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// AppendRow appends a line with the values under their names. Unknown values
// are null.
func AppendRow(dst []byte, names []string, values []figure.Value) []byte {
	dst = append(dst, '{')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), names[i]...), `":`...)
		dst = appendValue(dst, v)
	}
	return append(dst, '}', '\n')
}

func appendFloat(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

func appendValue(dst []byte, v figure.Value) []byte {
	switch v.Type {
	case figure.Text:
		return jsontext.AppendString(dst, v.Text)
	case figure.Int, figure.Bytes:
		return strconv.AppendInt(dst, v.Int, 10)
	case figure.Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case figure.Millis:
		return trace.Millis(v.Int).Append(dst)
	case figure.Float, figure.Percent, figure.Rate:
		return appendFloat(dst, v.Float())
	case figure.List:
		dst = append(dst, '[')
		comma := false
		for word := range strings.Lines(v.Text) {
			if comma {
				dst = append(dst, ',')
			}
			dst = jsontext.AppendString(dst, strings.TrimSuffix(word, "\n"))
			comma = true
		}
		return append(dst, ']')
	case figure.Numbers:
		return append(append(append(dst, '['), strings.ReplaceAll(v.Text, " ", ",")...), ']')
	default:
		return append(dst, "null"...)
	}
}
