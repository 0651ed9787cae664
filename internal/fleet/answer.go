package fleet

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// An answerRow reads the values of one row of a Result, one after the other. After the
// first invalid value, all are zero.
type answerRow struct {
	row []any
	err error
}

var errAnswer = errors.New("ClickHouse's answer has other columns than the query")

func (a *answerRow) next() any {
	if len(a.row) == 0 {
		a.err = errAnswer
		return nil
	}
	v := a.row[0]
	a.row = a.row[1:]
	return v
}

// text reads a string, a number or null as text.
func (a *answerRow) text() string {
	switch v := a.next().(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

// float reads a number. Large numbers arrive as text; null is 0.
func (a *answerRow) float() float64 {
	s := a.text()
	if s == "" {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		a.err = errAnswer
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

func (a *answerRow) int() int64 {
	s := a.text()
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		a.err = errAnswer
	}
	return n
}

func (a *answerRow) list() []any {
	v, ok := a.next().([]any)
	if !ok {
		a.err = errAnswer
	}
	return v
}
