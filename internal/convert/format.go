// Package convert writes traces in the formats of other tools, and as .nettrace: a part, or all of
// it without what identifies the program.
package convert

import (
	"io"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/export/perfetto"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/export/snapshot"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
)

// A Format is a format that traces are converted to.
type Format struct {
	Name     string
	Suffixes []string // of file names
	Says     string   // its purpose, in a few words
	Binary   bool
	Next     string // the command that opens the file, with %s for its name; empty for none
	Events   bool   // it holds events: see Events
	Report   bool   // it is the report

	timed      bool   // it has allocations with their times
	phases     bool   // it has the phases of background collections
	requests   bool   // it has requests
	snapshots  bool   // it has heap snapshots, beside what else it has
	processors bool   // it has the processor time by the kernel's events
	parts      []part // a single file holds the first
}

// A part is a file of a format. One of its functions is set.
type part struct {
	name        string
	collections func(io.Writer, *Converter) export.Writer
	allocations func(io.Writer, []*export.Allocations) error
	events      func(io.Writer) *parquet.Events
	snapshot    func(io.Writer, *heap.Snapshot) error // the last one
	profile     func(io.Writer, *Converter, profile.Profile) error
}

// finish writes a part that needs the whole trace.
func (p *part) finish(w io.Writer, c *Converter) error {
	switch {
	case p.allocations != nil:
		return p.allocations(w, c.allocated)
	case p.snapshot != nil:
		if err := c.last(); err != nil {
			return err
		}
		return p.snapshot(w, c.Snapshot)
	case p.profile != nil:
		of, err := c.profile()
		if err != nil {
			return err
		}
		return p.profile(w, c, of)
	}
	return nil
}

// formats are the formats, in the order in which help lists them.
var formats = []Format{
	{
		Name: "perfetto", Suffixes: []string{".pftrace", ".perfetto-trace"}, Says: "timeline for ui.perfetto.dev", Binary: true,
		phases: true, requests: true, snapshots: true,
		parts: []part{{collections: func(w io.Writer, c *Converter) export.Writer { return &judged{perfetto.NewWriter(w), c} }}},
	},
	{
		Name: "firefox", Suffixes: []string{".firefox.json"}, Says: "timeline for profiler.firefox.com",
		timed: true,
		parts: []part{{collections: func(w io.Writer, c *Converter) export.Writer {
			return &firefoxProfile{profile.NewFirefox(w, c.start()), c}
		}}},
	},
	{
		Name: "pprof", Suffixes: []string{".pb.gz", ".pprof"}, Says: "allocations or heap for go tool pprof", Binary: true,
		Next: "go tool pprof -top %s",
		parts: []part{{profile: func(w io.Writer, c *Converter, p profile.Profile) error {
			start, length := c.covered()
			return profile.WritePprof(w, p, start, length)
		}}},
	},
	{
		Name: "speedscope", Suffixes: []string{".speedscope.json"}, Says: "the same for www.speedscope.app",
		parts: []part{{profile: func(w io.Writer, c *Converter, p profile.Profile) error {
			return profile.WriteSpeedscope(w, p, c.name)
		}}},
	},
	{
		Name: "collapsed", Suffixes: []string{".collapsed", ".folded"}, Says: "the same for flamegraph.pl",
		parts: []part{{profile: func(w io.Writer, _ *Converter, p profile.Profile) error { return profile.WriteCollapsed(w, p) }}},
	},
	{
		Name: "parquet", Suffixes: []string{".parquet"}, Says: "tables for DuckDB, ClickHouse, pandas", Binary: true,
		parts: []part{
			{name: "collections", collections: func(w io.Writer, c *Converter) export.Writer { return parquet.Collections(w, c.start, figure.All()) }},
			{name: "pauses", collections: func(w io.Writer, _ *Converter) export.Writer { return parquet.Pauses(w) }},
			{name: "generations", collections: func(w io.Writer, _ *Converter) export.Writer { return parquet.Generations(w) }},
			{name: "allocations", allocations: parquet.WriteAllocations},
			{name: "events", events: parquet.NewEvents},
		},
	},
	{
		Name: "csv", Suffixes: []string{".csv"}, Says: "collections, as gcs --format csv",
		parts: []part{{collections: func(w io.Writer, _ *Converter) export.Writer {
			table := &export.CSV{Columns: figure.All()}
			return &lines{w: w, line: table.AppendHeader(nil), append: table.AppendCollection}
		}}},
	},
	{
		Name: "jsonl", Suffixes: []string{".jsonl", ".ndjson"}, Says: "collections, as gcs --format jsonl",
		parts: []part{{collections: func(w io.Writer, c *Converter) export.Writer {
			return &lines{w: w, append: func(line []byte, of *gc.Collection) []byte {
				return jsonl.AppendCollection(line, c.start(), of)
			}}
		}}},
	},
	{
		Name: "openmetrics", Suffixes: []string{".om", ".prom"}, Says: "metrics for Prometheus (promtool)",
		Next: "promtool tsdb create-blocks-from openmetrics %s DATA", processors: true,
		parts: []part{{collections: func(w io.Writer, c *Converter) export.Writer { return openmetrics.NewWriter(w, c.start()) }}},
	},
	{
		Name: "heapsnapshot", Suffixes: []string{".heapsnapshot"}, Says: "heap snapshot for browsers' DevTools",
		parts: []part{{snapshot: snapshot.WriteDevTools}},
	},
	{
		Name: "gcdump", Suffixes: []string{".gcdump"}, Says: "heap snapshot for PerfView", Binary: true,
		parts: []part{{snapshot: snapshot.WriteGCDump}},
	},
	{Name: "markdown", Suffixes: []string{".md", ".markdown"}, Says: "the report, for an issue or a wiki", Report: true, parts: []part{{}}},
	{
		Name: "nettrace", Suffixes: []string{".nettrace"}, Says: "trace for PerfView, or part of one", Binary: true,
		Next: "gctrail %s", Events: true, parts: []part{{}},
	},
}

// Snapshots reports whether the format has heap snapshots.
func (f *Format) Snapshots() bool {
	return f.snapshots || slices.ContainsFunc(f.parts, func(p part) bool { return p.snapshot != nil || p.profile != nil })
}

// Profiles reports whether the format has stacks: of allocations, or of a heap snapshot.
func (f *Format) Profiles() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.profile != nil })
}

// Formats returns the formats.
func Formats() []Format { return append([]Format(nil), formats...) }

// Names returns the names of the formats.
func Names() []string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].Name
	}
	return names
}

// Named returns the format of a name, nil if there is none.
func Named(name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// For returns the format for the suffix of a path, nil if there is none.
func For(path string) *Format {
	for i := range formats {
		for _, suffix := range formats[i].Suffixes {
			if strings.HasSuffix(strings.ToLower(path), suffix) {
				return &formats[i]
			}
		}
	}
	return nil
}

// Files returns the names of the format's files in a folder that takes all of them; a
// single one if it has no parts.
func (f *Format) Files(trace string) []string {
	var names []string
	for _, p := range f.parts {
		name := trace
		if p.name != "" {
			name += "." + p.name
		}
		names = append(names, name+f.Suffixes[0])
	}
	return names
}

// lines writes a line for each collection, after a first line.
type lines struct {
	w      io.Writer
	line   []byte
	append func([]byte, *gc.Collection) []byte
}

func (l *lines) Add(c *gc.Collection) error {
	l.line = l.append(l.line, c)
	_, err := l.w.Write(l.line)
	l.line = l.line[:0]
	return err
}

func (l *lines) Close() error {
	_, err := l.w.Write(l.line)
	return err
}

// judged writes the phases of background collections, and the findings on the processes,
// after their collections.
type judged struct {
	*perfetto.Writer
	c *Converter
}

func (j *judged) Close() error {
	for _, b := range j.c.phases {
		p := j.c.process(b.PID)
		if !j.c.selected.HasProcess(p) || !j.c.selected.AllTimes() && !j.c.selected.HasTime(j.c.info, b.Start) {
			continue
		}
		if err := j.Phases(p, b); err != nil {
			return err
		}
	}
	for _, r := range j.c.results {
		if err := j.Findings(r.Summary.Process, r.Findings); err != nil {
			return err
		}
	}
	if err := j.requests(); err != nil {
		return err
	}
	for _, s := range j.c.snapshots() {
		if s.Graph == nil {
			j.c.Incomplete++
			continue
		}
		j.c.Snapshots++
		if err := j.Snapshot(j.c.process(s.PID), s); err != nil {
			return err
		}
	}
	return j.Writer.Close()
}

// requests writes the spans that begin in the time that is selected.
func (j *judged) requests() error {
	for _, p := range j.c.requests.Processes(j.c.loss) {
		of := j.c.process(p.PID)
		if !j.c.selected.HasProcess(of) {
			continue
		}
		to := j.NewRequests(of, j.c.info.Last)
		for s := range p.Spans() {
			if !j.c.during(s.Start) {
				continue
			}
			if err := to.Add(s, p.Pauses(s)); err != nil {
				return err
			}
		}
		j.c.Requests += to.Written
		j.c.RequestsLeftOut += to.LeftOut
		if err := to.Close(); err != nil {
			return err
		}
	}
	j.c.RequestsLeftOut += int64(j.c.requests.LeftOut())
	return nil
}

// A firefoxProfile has collections, findings and allocations.
type firefoxProfile struct {
	*profile.Firefox
	c *Converter
}

func (p *firefoxProfile) Close() error {
	for _, r := range p.c.results {
		p.Findings(r.Summary.Process, r.Findings)
	}
	p.Allocations(p.c.allocated)
	p.c.LeftOut = p.LeftOut
	return p.Firefox.Close()
}
