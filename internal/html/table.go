package html

import (
	"math"
	"strconv"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
)

// A table holds the columns of a process. Each figure is stored as a varint: 0 if it is
// unknown, otherwise one more than its difference from the prediction in zigzag form.
type table struct {
	rows int
	data [][]byte
	last []int64 // figures of the collection before; zero if unknown
	row  []int64
}

// places holds where the columns are that a column is predicted from.
type place struct {
	column, back int
	sign         int64
}

var places = text.Each(columns, func(c *column) []place { return placesOf(c.from) })

// columnIndex holds where the columns are, by name.
var columnIndex = func() map[string]int {
	index := make(map[string]int, len(columns))
	for i := range columns {
		index[columns[i].name] = i
	}
	return index
}()

func placesOf(terms []term) []place {
	return text.Each(terms, func(t *term) place { return place{columnIndex[t.name], t.back, t.sign} })
}

func newTable() *table {
	n := len(columns)
	return &table{data: make([][]byte, n), last: make([]int64, n), row: make([]int64, n)}
}

// A row holds the figures of a collection, in the order of the columns.
type row []int64

// unknown is a figure that is not known.
const unknown = math.MinInt64

// appendFigures appends the figures of a collection.
func (r row) appendFigures(c *gc.Collection) row {
	for i := range columns {
		v, known := columns[i].value(c).Get()
		if !known {
			v = unknown
		}
		r = append(r, v)
	}
	return r
}

// add adds a collection's figures.
func (t *table) add(r row) {
	for i := range columns {
		v := r[i]
		if v == unknown {
			t.row[i] = 0
			t.data[i] = append(t.data[i], 0)
			continue
		}
		t.data[i] = appendFigure(t.data[i], v-likely(i, t.row, t.last))
		t.row[i] = v
	}
	t.row, t.last = t.last, t.row
	t.rows++
}

// likely predicts a column from the columns of the same row and of the one before, which
// are 0 if they are unknown.
func likely(column int, now, last []int64) (v int64) {
	for _, p := range places[column] {
		if p.back == 0 {
			v += p.sign * now[p.column]
		} else {
			v += p.sign * last[p.column]
		}
	}
	return v
}

// appendJSON appends the figures as a JSON array.
func (r row) appendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i, v := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v == unknown {
			dst = append(dst, "null"...)
		} else {
			dst = strconv.AppendInt(dst, v, 10)
		}
	}
	return append(dst, ']')
}
