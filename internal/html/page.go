// Package html writes collections as a page for browsers: one file that needs no
// other, asks for none, and shows verdict, findings, charts and all collections.
// docs/html.md describes what is in it.
package html

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	stdhtml "html"
	"io"
	"slices"
	"sync"

	"github.com/gctrail/gctrail/internal/assets"
)

// A Page is a page about a trace, or about several that are compared.
type Page struct {
	Title   string
	Verdict string
	Opening string // HTML that is shown until the script has run
	Program string // that wrote it, with its version
	Terms   []Term
	Traces  []*Trace
	// Comparison is of the traces, as gctrail diff --format json prints it, and
	// Before is how many of them are from before. Nil for a single trace.
	Comparison json.RawMessage
	Before     int
}

// Write writes the page as one file.
func (p *Page) Write(w io.Writer) error {
	blocks, err := p.blocks()
	if err != nil {
		return err
	}
	opening := "<body>\n<div id=\"app\">\n" + p.Opening + "</div>\n<noscript>" + noScript + "</noscript>\n"
	if _, err := io.WriteString(w, head(p.Title, policy("default-src 'none'"))+opening); err != nil {
		return err
	}
	if err := writeData(w, blocks); err != nil {
		return err
	}
	_, err = io.WriteString(w, "<script>"+assets.Script+"</script>\n</body>\n</html>\n")
	return err
}

const (
	noScript         = "<p class=\"unscripted\">Charts and the table of GCs need JavaScript. The page runs only what is in this file, and connects to nothing.</p>"
	noScriptOnServer = "<p class=\"unscripted\">This page needs JavaScript. It connects to nothing but this server.</p>"
)

// WriteShell writes the page without data, which it is to ask the server for that
// it comes from. The policy is for the header of the response too.
func WriteShell(w io.Writer, title string) error {
	_, err := io.WriteString(w, head(title, ShellPolicy())+"<body>\n<div id=\"app\"></div>\n<noscript>"+noScriptOnServer+"</noscript>\n<script>"+assets.Script+"</script>\n</body>\n</html>\n")
	return err
}

// ShellPolicy returns the Content-Security-Policy of the page that asks its server for
// data.
func ShellPolicy() string { return policy("default-src 'none'; connect-src 'self'") }

// policy returns a Content-Security-Policy that adds to rest only the page's own script and
// style, by their hashes.
func policy(rest string) string {
	return fmt.Sprintf("%s; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		rest, Hash(assets.Script), Hash(assets.Style))
}

// Hash returns a text as a policy names it.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// head returns the beginning of a page, up to its body.
func head(title, policy string) string {
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<link rel="icon" href="data:image/svg+xml,%s">
<style>%s</style>
</head>
`, stdhtml.EscapeString(policy), stdhtml.EscapeString(title), icon, assets.Style)
}

// icon is three bars, as a part of a URL.
const icon = "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
	"%3Cpath fill='%233b6fb6' d='M2 9h3v5H2zM6.5 5h3v9h-3zM11 2h3v12h-3z'/%3E%3C/svg%3E"

// writeData writes the data blocks of the page in base64, for the page to decode a
// slice at a time.
func writeData(w io.Writer, blocks []block) error {
	for _, b := range blocks {
		if _, err := fmt.Fprintf(w, "<script type=\"text/plain\" id=\"%s\">", b.id); err != nil {
			return err
		}
		text := base64.NewEncoder(base64.StdEncoding, w)
		if _, err := text.Write(b.data); err != nil {
			return err
		}
		if err := text.Close(); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "</script>\n"); err != nil {
			return err
		}
	}
	return nil
}

// A block is a part of a page's data, compressed.
type block struct {
	id   string
	data []byte
}

// blocks returns the data of the page.
func (p *Page) blocks() ([]block, error) {
	for _, t := range p.Traces {
		t.processes = t.listed()
	}
	parts := []block{{id: "allocations"}, {id: "objects"}, {id: "requests"}, {id: "quoted"}}
	of := []func(*Trace, *process) any{
		func(t *Trace, of *process) any { return partOf(t.Allocations, of) },
		func(t *Trace, of *process) any { return partOf(t.Objects, of) },
		func(t *Trace, of *process) any { return partOf(t.Requests, of) },
		(*Trace).quotes,
	}
	errs := make([]error, len(parts))
	var compressed sync.WaitGroup
	compressed.Go(func() {
		for i := range parts {
			parts[i].data, errs[i] = deflate(func(w io.Writer) error { return p.writeLines(w, of[i]) })
		}
	})
	tables, err := p.tables()
	compressed.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	size := len(tables)
	for _, b := range parts {
		size += len(b.data)
	}
	details, err := p.pack(size)
	if err != nil {
		return nil, err
	}
	columns, err := p.columns(details, tables)
	return append([]block{{"columns", columns}, {"details", slices.Concat(details.chunks...)}}, parts...), err
}

// tables returns the end of the columns block, compressed.
func (p *Page) tables() ([]byte, error) {
	return deflate(func(w io.Writer) error { return writeTables(w, p.Traces) })
}

// columns returns the columns block of the page, of its tables.
func (p *Page) columns(details *packed, tables []byte) ([]byte, error) {
	header, err := p.deflateHeader(details)
	return slices.Concat(header, tables), err
}

// deflateHeader returns the beginning of the columns block, which its tables follow: it ends at
// a byte, so that other compressed data may follow.
func (p *Page) deflateHeader(details *packed) ([]byte, error) {
	return compress(func(w io.Writer) error { return writeHeader(w, p.header(details)) }, (*flate.Writer).Flush)
}

// Blocks returns the data of the page as a server sends them, compressed: columns,
// details, allocations, objects, requests, quoted.
func (p *Page) Blocks() (map[string][]byte, error) {
	all, err := p.blocks()
	blocks := make(map[string][]byte)
	for _, b := range all {
		blocks[b.id] = b.data
	}
	return blocks, err
}

// compression is the level of all data: 9 takes four times as long for 0.1 % less.
const compression = 7

func deflate(write func(io.Writer) error) ([]byte, error) {
	return compress(write, (*flate.Writer).Close)
}

// compress returns what write writes, compressed. end flushes or closes the compressor.
func compress(write func(io.Writer) error, end func(*flate.Writer) error) ([]byte, error) {
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, compression)
	if err != nil {
		return nil, err
	}
	if err := write(z); err != nil {
		return nil, err
	}
	err = end(z)
	return out.Bytes(), err
}

func (p *Page) header(details *packed) *header {
	h := &header{
		Version: formatVersion, Program: p.Program, Columns: headerColumns(), Details: detailsOfPage(), Words: wordsOfPage(), Terms: append([]Term{}, p.Terms...),
		Traces: []headerTrace{}, Comparison: p.Comparison,
	}
	process := 0
	for i, t := range p.Traces {
		of := t.header()
		if p.Comparison != nil {
			of.Side = "after"
			if i < p.Before {
				of.Side = "before"
			}
		}
		for j := range of.Processes {
			if details != nil {
				of.Processes[j].Details = append([]uint32{}, runs(details.rows[process])...)
				of.Processes[j].Chunks = append([]int{}, details.sizes[process]...)
			}
			process++
		}
		h.Traces = append(h.Traces, of)
	}
	return h
}

// writeLines writes values of each process as JSON, each in a line, and nothing for nil.
func (p *Page) writeLines(w io.Writer, of func(*Trace, *process) any) error {
	for _, t := range p.Traces {
		for _, process := range t.processes {
			v := of(t, process)
			if v == nil {
				continue
			}
			line, err := json.Marshal(v)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
