package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
)

// MaxResult bounds the bytes of a tool's result, because agents truncate longer ones.
const MaxResult = 20_000

const (
	maxNotes   = 1_000 // of the commands' words on standard error
	maxTrailer = 200   // of the line that says which rows follow
	maxRows    = MaxResult - maxNotes - maxTrailer
)

// A paging selects rows of a result, and columns of them.
type paging struct {
	Offset  int      `json:"offset,omitempty"`
	Limit   int      `json:"limit,omitempty"`
	Columns []string `json:"columns,omitempty" jsonschema:"keys of the rows to show"`
}

// A page receives the output of a command, line by line, and holds the selected rows of it.
type page struct {
	paging
	line  []byte // the beginning of the next one
	shown bytes.Buffer
	rows  int // in all
	next  int // the first one not shown; 0 if there is none
	err   error
}

// Write implements io.Writer. It never fails, so that commands run to their end.
func (p *page) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		p.line = append(p.line, line...)
		if !ended {
			return n, nil
		}
		p.row(p.line)
		p.line, b = p.line[:0], rest
	}
}

// row takes a line, which is used only during the call.
func (p *page) row(line []byte) {
	number := p.rows
	p.rows++
	if p.err != nil || p.next != 0 || number < p.Offset {
		return
	}
	if p.Limit > 0 && number-p.Offset >= p.Limit {
		p.next = number
		return
	}
	if len(p.Columns) > 0 {
		if line, p.err = projected(line, p.Columns); p.err != nil {
			return
		}
	}
	switch {
	case p.shown.Len()+len(line)+1 <= maxRows:
		p.shown.Write(line)
		p.shown.WriteByte('\n')
	case p.shown.Len() == 0:
		p.err = fmt.Errorf("row %d has %d bytes, and a result at most %d: select less, with columns, or with process, from and to", number, len(line), maxRows)
	default:
		p.next = number
	}
}

// result returns the selected rows. If others follow, the last line names the offset of
// the next page.
func (p *page) result() (string, error) {
	if len(p.line) > 0 { // text without a newline at its end
		p.row(p.line)
		p.line = nil
	}
	if p.err != nil {
		return "", p.err
	}
	if p.Offset > 0 && p.Offset >= p.rows {
		return "", fmt.Errorf("offset %d is past the last of %d rows", p.Offset, p.rows)
	}
	if p.next == 0 {
		return p.shown.String(), nil
	}
	err := jsontext.Encode(&p.shown, struct {
		Rows int `json:"rows_in_all"`
		Next int `json:"next_offset"`
	}{p.rows, p.next})
	return p.shown.String(), err
}

// projected returns a row with only some keys.
func projected(line []byte, columns []string) ([]byte, error) {
	var row object
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, err
	}
	var part object
	for _, name := range columns {
		i := slices.IndexFunc(row, func(m member) bool { return m.name == name })
		if i < 0 {
			names := text.Each(row, func(m *member) string { return m.name })
			return nil, fmt.Errorf("no column %q; the columns are %s", name, strings.Join(names, ", "))
		}
		part = append(part, row[i])
	}
	return part.MarshalJSON()
}

// A head keeps the first bytes that are written to it.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), h.limit-h.Len())])
	return len(p), nil
}
