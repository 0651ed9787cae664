// Package csv writes collections as comma-separated values (RFC 4180): a line
// with the names of the columns, then a line for each collection. What is
// unknown is empty; sizes are bytes and times milliseconds, as the names say.
package csv

import (
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/export/internal/millis"
	"github.com/gctrail/gctrail/gc"
)

// AppendHeader appends the line with the names.
func AppendHeader(dst []byte, columns []column.Column) []byte {
	for i := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, columns[i].Name)
	}
	return append(dst, '\n')
}

// AppendCollection appends the line of c.
func AppendCollection(dst []byte, columns []column.Column, c *gc.Collection) []byte {
	for i := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, columns[i].Value(c))
	}
	return append(dst, '\n')
}

// AppendRow appends a line of values.
func AppendRow(dst []byte, values []column.Value) []byte {
	for i := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, values[i])
	}
	return append(dst, '\n')
}

func appendValue(dst []byte, v column.Value) []byte {
	switch v.Type {
	case column.Text:
		return appendText(dst, v.Text)
	case column.List:
		return appendText(dst, strings.ReplaceAll(strings.TrimSuffix(v.Text, "\n"), "\n", ";"))
	case column.Int, column.Bytes:
		return strconv.AppendInt(dst, v.Int, 10)
	case column.Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case column.Millis:
		return millis.Append(dst, time.Duration(v.Int))
	case column.Float, column.Percent:
		return strconv.AppendFloat(dst, v.Float, 'f', -1, 64)
	default:
		return dst
	}
}

// appendText quotes s where it holds what would end the field.
func appendText(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}
