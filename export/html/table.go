package html

import (
	"encoding/binary"
	"strconv"

	"github.com/gctrail/gctrail/gc"
)

// A table holds the columns of a process. Of each figure it stores how far it is
// from what is likely, as a varint: 0 for an unknown figure, else one more than the
// difference in zigzag form.
type table struct {
	rows int
	data [][]byte
	last []int64 // figures of the collection before; zero where unknown
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

func (t *table) add(c *gc.Collection) {
	for i := range columns {
		var likely int64
		for _, p := range places[i] {
			if p.back == 0 {
				likely += p.sign * t.row[p.column]
			} else {
				likely += p.sign * t.last[p.column]
			}
		}
		v, known := columns[i].value(c).Get()
		t.row[i] = v
		if !known {
			t.data[i] = append(t.data[i], 0)
			continue
		}
		d := v - likely
		t.data[i] = binary.AppendUvarint(t.data[i], uint64(d<<1^d>>63)+1)
	}
	t.row, t.last = t.last, t.row
	t.rows++
}

// appendRow appends the figures of a collection as a JSON array.
func appendRow(dst []byte, c *gc.Collection) []byte {
	dst = append(dst, '[')
	for i := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v, known := columns[i].value(c).Get(); known {
			dst = strconv.AppendInt(dst, v, 10)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, ']')
}
