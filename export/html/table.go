package html

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/gctrail/gctrail/gc"
)

// A table holds the columns of a process. Of each figure it stores how far it is
// from what is likely, as a varint: 0 for an unknown figure, else one more than the
// difference in zigzag form.
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

var places = func() [][]place {
	index := make(map[string]int, len(columns))
	for i := range columns {
		index[columns[i].name] = i
	}
	all := make([][]place, len(columns))
	for i := range columns {
		for _, t := range columns[i].from {
			all[i] = append(all[i], place{index[t.name], t.back, t.sign})
		}
	}
	return all
}()

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
		var likely int64
		for _, p := range places[i] {
			if p.back == 0 {
				likely += p.sign * t.row[p.column]
			} else {
				likely += p.sign * t.last[p.column]
			}
		}
		v := r[i]
		if v == unknown {
			t.row[i] = 0
			t.data[i] = append(t.data[i], 0)
			continue
		}
		t.row[i] = v
		d := v - likely
		t.data[i] = binary.AppendUvarint(t.data[i], uint64(d<<1^d>>63)+1)
	}
	t.row, t.last = t.last, t.row
	t.rows++
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
