package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
)

// A ClickHouse is a ClickHouse server, or any server of a cluster, reached over HTTP.
type ClickHouse struct {
	URL            string // http://host:8123
	Database       string
	User, Password string
	// Client does the requests; nil for http.DefaultClient.
	Client *http.Client
}

// maxAnswer bounds the answer to a query.
const maxAnswer = 64 << 20

// insertSettings make an insert into a distributed table return when the shards have
// stored the rows. By default it would return when the first server has received them.
const insertSettings = "distributed_foreground_insert=1"

// CheckSchema returns an error unless all tables are there, with the times that insert
// sends: the tables of an earlier gctrail would take them for something else.
func (c *ClickHouse) CheckSchema(ctx context.Context) error {
	for _, t := range Tables() {
		_, err := c.Query(ctx, fmt.Sprintf("SELECT toUnixTimestamp64Nano(time) FROM %s LIMIT 0", quoteName(t.Name)))
		if server := (*ServerError)(nil); errors.As(err, &server) && server.Code == illegalType {
			return fmt.Errorf("an earlier gctrail made table %s; replace it with: gctrail fleet schema --move --apply", t.Name)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

// insert stores rows. When it returns nil, the shards have stored them. If no answer
// comes, insert sends the rows once more. This is safe, because the server drops a batch
// that it has already stored.
func (c *ClickHouse) insert(ctx context.Context, t *Table, rows []byte, _ int) error {
	// A record's time is sent as DateTime64(9), which is stored in Unix nanoseconds.
	names := strings.Replace(t.names(), quoteName(columnTime), "time", 1)
	statement := fmt.Sprintf("INSERT INTO %s (%s) FORMAT RowBinary", quoteName(t.Name), names)
	token := sha256.Sum256(rows)
	parameters := fmt.Sprintf("%s&insert_deduplication_token=%x&query=%s", insertSettings, token, url.QueryEscape(statement))
	body, err := c.post(ctx, parameters, rows)
	if server := (*ServerError)(nil); err != nil && ctx.Err() == nil && !errors.As(err, &server) {
		body, err = c.post(ctx, parameters, rows)
	}
	if err != nil {
		return err
	}
	return body.Close()
}

// Exec runs a statement that has no result.
func (c *ClickHouse) Exec(ctx context.Context, statement string) error {
	body, err := c.post(ctx, "", []byte(statement))
	if err != nil {
		return err
	}
	return body.Close()
}

// A Result is the answer to a query.
type Result struct {
	Names []string
	Rows  [][]any // string, json.Number or nil
}

// Query runs a query. The server refuses one that would change data, tables or settings.
// 64-bit numbers come as text or number, by the server's version and settings.
func (c *ClickHouse) Query(ctx context.Context, query string) (*Result, error) {
	body, err := c.post(ctx, "readonly=1&wait_end_of_query=1", []byte(query+"\nFORMAT JSONCompact"))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	type column struct{ Name string }
	var answer struct {
		Meta []column
		Data [][]any
	}
	limited := &io.LimitedReader{R: body, N: maxAnswer}
	decoder := json.NewDecoder(limited)
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		if limited.N <= 0 {
			return nil, fmt.Errorf("ClickHouse's answer is larger than %d MiB: add a LIMIT", maxAnswer>>20)
		}
		return nil, fmt.Errorf("reading ClickHouse's answer: %w", err)
	}
	return &Result{text.Each(answer.Meta, func(m *column) string { return m.Name }), answer.Data}, nil
}

// selected yields the rows of a table that match a filter; the row is valid until the
// next step. Rows are read in binary form, so that 64-bit numbers stay exact.
func (c *ClickHouse) selected(ctx context.Context, t *Table, f *Filter, tail string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		query := fmt.Sprintf("SELECT %s FROM %s FINAL WHERE %s%s\nFORMAT RowBinary", t.names(), quoteName(t.Name), f.sql(), tail)
		body, err := c.post(ctx, "", []byte(query))
		if err != nil {
			yield(nil, err)
			return
		}
		defer body.Close()
		row := make(Row, len(t.Columns))
		buffer, filled := make([]byte, 0, 1<<20), false
		for {
			rest, err := t.readRow(row, buffer)
			switch {
			case err == nil && len(buffer) > 0:
				if buffer = rest; !yield(row, nil) {
					return
				}
				continue
			case filled && len(buffer) == 0:
				return
			case filled:
				yield(nil, fmt.Errorf("reading ClickHouse's answer: %w", err))
				return
			}
			if buffer, filled, err = more(body, buffer); err != nil {
				yield(nil, fmt.Errorf("reading ClickHouse's answer: %w", err))
				return
			}
		}
	}
}

// maxRow bounds a row of an answer.
const maxRow = 1 << 20

// more reads further bytes into buffer, and reports whether the end was reached.
func more(r io.Reader, buffer []byte) (_ []byte, all bool, _ error) {
	if len(buffer) > maxRow {
		return nil, false, errRow
	}
	filled := bytes.NewBuffer(append(make([]byte, 0, maxRow+1<<20+bytes.MinRead), buffer...))
	_, err := io.CopyN(filled, r, 1<<20)
	if errors.Is(err, io.EOF) { // unlike io.ErrUnexpectedEOF, of an answer that breaks off
		return filled.Bytes(), true, nil
	}
	return filled.Bytes(), false, err
}

// names lists the columns for a statement.
func (t *Table) names() string {
	return strings.Join(text.Each(t.Columns, func(c *Column) string { return quoteName(c.Name) }), ", ")
}

// post sends a request, and returns the body of a successful answer.
func (c *ClickHouse) post(ctx context.Context, parameters string, body []byte) (io.ReadCloser, error) {
	address := strings.TrimSuffix(c.URL, "/") + "/?database=" + url.QueryEscape(c.Database)
	if parameters != "" {
		address += "&" + parameters
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.User != "" {
		req.Header.Set("X-ClickHouse-User", c.User)
		req.Header.Set("X-ClickHouse-Key", c.Password)
	}
	client := cmp.Or(c.Client, http.DefaultClient)
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking ClickHouse: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	message, _ := io.ReadAll(io.LimitReader(resp.Body, 2<<10))
	return nil, &ServerError{Status: resp.StatusCode, Code: exceptionCode(resp, message), Message: strings.TrimSpace(string(message))}
}

// A ServerError is ClickHouse's refusal of a statement.
type ServerError struct {
	Status  int // of HTTP
	Code    int // of ClickHouse; 0 if it gave none
	Message string
}

// Error returns the server's message.
func (e *ServerError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("ClickHouse answered with HTTP status %d", e.Status)
	}
	return "ClickHouse: " + e.Message
}

// Codes of ClickHouse for an unsuitable column type, and for a table and a database that
// do not exist.
const illegalType, unknownTable, unknownDatabase = 43, 60, 81

// NoSchema reports whether err means that the tables are missing.
func NoSchema(err error) bool {
	var server *ServerError
	return errors.As(err, &server) && (server.Code == unknownTable || server.Code == unknownDatabase)
}

// exceptionCode finds the code of an exception, in the header of newer servers or
// at the start of the message.
func exceptionCode(resp *http.Response, message []byte) int {
	text := resp.Header.Get("X-ClickHouse-Exception-Code")
	if text == "" {
		text, _, _ = strings.Cut(strings.TrimPrefix(string(message), "Code: "), ",")
		text, _, _ = strings.Cut(text, ".")
	}
	code, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return code
}
