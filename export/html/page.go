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
	"fmt"
	stdhtml "html"
	"io"
	"slices"

	"github.com/gctrail/gctrail/web"
)

// A Page is what a page shows: a trace, or several that are compared.
type Page struct {
	Title   string
	Verdict string
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
	details := p.prepare()
	if err := writeHead(w, p.Title, policy("default-src 'none'")); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "<body>\n<div id=\"app\"><main class=\"opening\"><h1>%s</h1><p>%s</p></main></div>\n<noscript>%s</noscript>\n",
		stdhtml.EscapeString(p.Title), stdhtml.EscapeString(p.Verdict), noScript); err != nil {
		return err
	}
	if err := p.writeData(w, details); err != nil {
		return err
	}
	_, err := io.WriteString(w, "<script>"+web.Script+"</script>\n</body>\n</html>\n")
	return err
}

const noScript = "<p>This page needs JavaScript. It runs only what is in this file, and connects to nothing.</p>"

// WriteShell writes the page without data, which it is to ask the server for that
// it comes from. The policy is for the header of the response too.
func WriteShell(w io.Writer, title string) error {
	if err := writeHead(w, title, ShellPolicy()); err != nil {
		return err
	}
	_, err := io.WriteString(w, "<body>\n<div id=\"app\"></div>\n<noscript>"+noScript+"</noscript>\n<script>"+web.Script+"</script>\n</body>\n</html>\n")
	return err
}

// ShellPolicy is the Content-Security-Policy of the page that asks its server for
// data.
func ShellPolicy() string { return policy("default-src 'none'; connect-src 'self'") }

// policy allows the script and the style of the page, and nothing else.
func policy(rest string) string {
	return fmt.Sprintf("%s; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		rest, hash(web.Script), hash(web.Style))
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func writeHead(w io.Writer, title, policy string) error {
	_, err := fmt.Fprintf(w, `<!doctype html>
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
`, stdhtml.EscapeString(policy), stdhtml.EscapeString(title), icon, web.Style)
	return err
}

// icon is three bars, as a part of a URL.
const icon = "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
	"%3Cpath fill='%233b6fb6' d='M2 9h3v5H2zM6.5 5h3v9h-3zM11 2h3v12h-3z'/%3E%3C/svg%3E"

// writeData writes the data blocks of the page. Each is compressed and in base64,
// for the page to decode a slice at a time.
func (p *Page) writeData(w io.Writer, details [][]detail) error {
	h := p.header(details)
	for _, block := range p.blocks(h, details) {
		if _, err := fmt.Fprintf(w, "<script type=\"text/plain\" id=\"%s\">", block.id); err != nil {
			return err
		}
		text := base64.NewEncoder(base64.StdEncoding, w)
		if err := deflate(text, block.write); err != nil {
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

// A block is a part of a page's data.
type block struct {
	id    string
	write func(io.Writer) error
}

func (p *Page) blocks(h *header, details [][]detail) []block {
	return []block{
		{"columns", func(w io.Writer) error { return writeColumns(w, h, p.Traces) }},
		{"details", func(w io.Writer) error { return writeDetails(w, details) }},
		{"allocations", p.writeAllocations},
		{"quoted", p.writeQuoted},
	}
}

// Blocks returns the data of the page as a server sends them, compressed: columns,
// details, allocations, quoted.
func (p *Page) Blocks() (map[string][]byte, error) {
	details := p.prepare()
	blocks := make(map[string][]byte)
	for _, b := range p.blocks(p.header(details), details) {
		var out bytes.Buffer
		if err := deflate(&out, b.write); err != nil {
			return nil, err
		}
		blocks[b.id] = out.Bytes()
	}
	return blocks, nil
}

// prepare orders the processes, and returns the details of each trace.
func (p *Page) prepare() [][]detail {
	details := make([][]detail, len(p.Traces))
	for i, t := range p.Traces {
		t.processes = t.listed()
		details[i] = t.sorted()
	}
	return details
}

func deflate(w io.Writer, write func(io.Writer) error) error {
	z, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		return err
	}
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

func (p *Page) header(details [][]detail) *header {
	h := &header{
		Version: formatVersion, Program: p.Program, Columns: headerColumns(), Words: wordsOfPage(), Terms: append([]Term{}, p.Terms...),
		Traces: []headerTrace{}, Comparison: p.Comparison,
	}
	for i, t := range p.Traces {
		of := t.header(details[i])
		if p.Comparison != nil {
			of.Side = "after"
			if i < p.Before {
				of.Side = "before"
			}
		}
		h.Traces = append(h.Traces, of)
	}
	return h
}

func writeDetails(w io.Writer, details [][]detail) error {
	for _, d := range slices.Concat(details...) {
		if _, err := w.Write(d.line); err != nil {
			return err
		}
	}
	return nil
}

// writeAllocations writes those of all processes that have them, each as a line.
func (p *Page) writeAllocations(w io.Writer) error {
	for _, t := range p.Traces {
		for _, of := range t.processes {
			for _, a := range t.Allocations {
				if a.PID != of.PID {
					continue
				}
				line, err := json.Marshal(a)
				if err != nil {
					return err
				}
				if _, err := w.Write(append(line, '\n')); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}
