package report

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// A Paged is an Input whose collections also go to a page.
type Paged struct {
	Input
	Incomplete []uint32 // numbers of collections that are not complete

	selected   *selection.Selection
	details    *Details
	background background.Model
	walked     []*gc.Collection // of which there may be snapshots
	page       *html.Trace      // does not keep the rest in memory, as a part of it would
}

// NewPaged returns r as a Paged.
func NewPaged(r Input, o *selection.Selection) *Paged {
	p := &Paged{Input: r, selected: o, details: NewDetails(o, r.Info()), page: new(html.Trace)}
	p.background.Done, p.details.allocs.KeepTimes = p.page.Phases, true
	p.details.requests.MaxSpans = maxPageSpans
	p.details.snapshots.MaxObjects = heap.MaxObjects // as gctrail objects, which the page is instead of
	return p
}

// PageOptions returns the options of a reader for Page.Gather.
func PageOptions() open.Options { return optionsOf(new(background.Model), new(gc.Model)) }

// Names returns the table of methods; see Details.Names.
func (p *Paged) Names() *symbol.Table { return p.details.Names() }

// Collections yields the trace's collections.
func (p *Paged) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	m.PerHeap = true
	return func(yield func(*gc.Collection, error) bool) {
		page := adderTo(p.page)
		defer page.close()
		for c, err := range p.Input.Collections(m, append(models, &p.background)...) {
			if err == nil && c.HeapDump {
				p.walked = append(p.walked, c)
			}
			if err == nil && p.selected.HasCollection(p.Info(), c) {
				page.add(c)
				if !c.Complete {
					p.Incomplete = append(p.Incomplete, c.Number)
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// An adder adds collections to a page while others are read.
type adder struct {
	batch   []*gc.Collection
	weight  int // of the batch
	batches chan []*gc.Collection
	done    chan struct{}
}

// addBatch is how many collections, or heaps of them, go to the page together, and
// addQueue how many batches may wait.
const addBatch, addQueue = 64, 2

func adderTo(page *html.Trace) *adder {
	a := &adder{batches: make(chan []*gc.Collection, addQueue), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		for batch := range a.batches {
			for _, c := range batch {
				page.Add(c)
			}
		}
	}()
	return a
}

// add adds a collection, which must not change any more.
func (a *adder) add(c *gc.Collection) {
	a.batch = append(a.batch, c)
	if a.weight += 1 + len(c.PerHeap); a.weight >= addBatch {
		a.batches <- a.batch
		a.batch, a.weight = nil, 0
	}
}

// close waits until all collections are added.
func (a *adder) close() {
	a.batches <- a.batch
	close(a.batches)
	<-a.done
}

// A Page is a page about traces, with their reports. The zero Page has none.
type Page struct {
	html.Page
	documents []*Document // of Traces
}

// Gather reads a trace to its end, adds it to the page and returns its report, which
// complete, unless it is nil, completes before.
func (page *Page) Gather(p *Paged, budget Budget, complete func(*Report)) (*Report, error) {
	rep, err := gather(p, p.selected, budget, p.details, html.MaxCollections)
	if err != nil {
		return nil, err
	}
	if complete != nil {
		complete(rep)
	}
	document := rep.Document()
	data, err := encoded(document)
	if err != nil {
		return nil, err
	}
	t := p.page
	t.PauseAtLeast, t.Record = make(map[*gc.Process]bool), make(map[*gc.Process]html.Record)
	t.Name, t.Report, t.Start, t.Last = rep.Name, bytes.TrimSpace(data), rep.info.Start, rep.info.Last
	t.Beside = export.Clean(p.Beside())
	for i := range rep.cases {
		t.Order = append(t.Order, rep.cases[i].Summary.Process)
		t.Quote(rep.cases[i].Summary.Process, rep.cases[i].Findings)
		t.PauseAtLeast[rep.cases[i].Summary.Process] = rep.cases[i].Summary.All().PauseAtLeast()
	}
	t.Allocations = p.details.allocations(rep.cases, t)
	t.Objects = p.objects(t.Order)
	t.Requests = p.details.requestsOn(t.Order, rep.info.Last)
	for i := range rep.cases {
		t.Record[rep.cases[i].Summary.Process] = p.records(rep, &rep.cases[i])
	}
	page.Traces, page.documents = append(page.Traces, t), append(page.documents, document)
	return rep, nil
}

// objects returns the selected heap snapshots of some processes.
func (p *Paged) objects(of []*gc.Process) []*html.Part {
	var all []*html.Part
	for _, process := range of {
		var snapshots []html.Snapshot
		for _, s := range p.details.snapshotsOf(process.PID) {
			for _, c := range p.walked {
				if c.Process.PID == s.PID && c.Number == s.Number {
					s.Collected(c)
				}
			}
			snapshots = append(snapshots, html.Snapshot{Snapshot: s})
		}
		if len(snapshots) > 0 {
			all = append(all, html.NewObjects(process.PID, snapshots))
		}
	}
	return all
}

// maxPageSpans is how many spans are kept for a page, which take 168 MB.
const maxPageSpans = 1 << 21

// requestsOn returns the requests of some processes that began in the time that is selected.
func (d *Details) requestsOn(of []*gc.Process, last time.Duration) []*html.Part {
	var all []*html.Part
	for _, r := range d.requests.Processes(d.loss) {
		if !slices.ContainsFunc(of, func(p *gc.Process) bool { return p.PID == r.PID }) {
			continue
		}
		if page := html.NewRequests(r, d.begins, last, d.requests.LeftOut()); page != nil {
			all = append(all, page)
		}
	}
	return all
}

// AddSnapshots adds heap snapshots of a process to a page that has nothing else of it.
func (page *Page) AddSnapshots(name string, of *gc.Process, snapshots []html.Snapshot) {
	t := &html.Trace{Name: name, Report: json.RawMessage(`{"processes":[]}`), Objects: []*html.Part{html.NewObjects(of.PID, snapshots)}}
	t.AddProcess(of)
	page.Traces = append(page.Traces, t)
}

// DescribeSnapshots names a page of heap snapshots.
func (page *Page) DescribeSnapshots(program string) {
	page.Title, page.Verdict = export.Clean(filepath.Base(page.Traces[0].Name))+" - gctrail", "What is on the heap, and what keeps it there."
	page.Program, page.Terms = program, Terms()
}

// Describe names the page after a report.
func (page *Page) Describe(rep *Report, program string) {
	page.Title, page.Verdict = export.Clean(filepath.Base(rep.Name))+" - gctrail", rep.Verdict()
	page.Program, page.Terms = program, Terms()
}

// Write writes the page as one file.
func (page *Page) Write(w io.Writer) error {
	page.Opening = page.opening()
	return page.Page.Write(w)
}

// Terms are the figures and words that a page explains.
func Terms() []html.Term {
	return text.Each(slices.Concat(figures, words()), func(d *figure.Definition) html.Term {
		return html.Term{Name: d.Name, Unit: d.Unit, Text: d.Text}
	})
}

// allocations returns the allocations of the processes of some cases.
func (d *Details) allocations(cases []Case, t *html.Trace) []*html.Part {
	var all []*html.Part
	for i := range cases {
		p, allocated := cases[i].Summary.Process, cases[i].Summary.Allocated()
		source := d.allocs.BestSource(p.PID)
		for _, total := range d.allocs.Totals() {
			if total.PID != p.PID || total.Source != source {
				continue
			}
			all = append(all, html.NewAllocations(&export.Allocations{
				Process: p, Source: source, Stacks: d.allocs.Stacks,
				Rows: d.allocs.Rows(p.PID, source, alloc.ByType|alloc.ByStack), Timeline: d.allocs.Timeline(p.PID, source),
			}, total, allocated.Max(), d.allocs.Rows(p.PID, source, alloc.ByType), t.Begins(p)))
		}
	}
	return all
}
