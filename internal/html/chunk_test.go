package html

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
)

// unpack decodes a chunk as the page does, from what the header says of details.
func unpack(t *testing.T, h headerDetails, data []byte, columns []row) []detail {
	t.Helper()
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	streams := len(h.Scalars)
	for _, l := range h.Lists {
		streams += 1 + len(l.Fields)
	}
	at := make([][]byte, streams)
	lengths := make([]uint64, streams)
	for i := range lengths {
		n := 0
		lengths[i], n = binary.Uvarint(raw)
		raw = raw[n:]
	}
	for i, n := range lengths {
		at[i], raw = raw[:n], raw[n:]
	}
	next := func(stream int, likely int64) (v int64) {
		v, at[stream] = readFigure(at[stream])
		if v != unknown {
			v += likely
		}
		return v
	}
	known := func(v int64) int64 {
		if v == unknown {
			return 0
		}
		return v
	}
	var all []detail
	last := make([]int64, len(h.Scalars))
	items := make([][][]int64, len(h.Lists)) // of the detail before
	for _, row := range columns {
		var d detail
		for i := range h.Scalars {
			v := next(i, last[i])
			last[i] = known(v)
			d = append(d, v)
		}
		stream := len(h.Scalars)
		for i, l := range h.Lists {
			n := int(next(stream, int64(len(items[i]))))
			d = append(d, int64(n))
			now := make([][]int64, n)
			for k := range now {
				now[k] = make([]int64, len(l.Fields))
			}
			for f, field := range l.Fields {
				sum := func(item int) (s int64) {
					if item < len(field.Columns) {
						for _, c := range field.Columns[item] {
							s += int64(c[1]) * known(row[c[0]])
						}
					}
					return s
				}
				for k := range now {
					before, left := int64(0), sum(0)
					if k < len(items[i]) {
						before = known(items[i][k][f])
					}
					for _, item := range now[:k] {
						left -= known(item[f])
					}
					likely := int64(0)
					switch field.Guess {
					case "previous":
						likely = before
					case "above":
						if k > 0 {
							likely = known(now[k-1][f-1])
						}
					case "rest":
						likely = left
					case "last":
						likely = before
						if k == n-1 {
							likely = left
						}
					case "exact":
						likely = sum(k)
					}
					now[k][f] = next(stream+1+f, likely)
				}
			}
			for _, item := range now {
				d = append(d, item...)
			}
			items[i] = now
			stream += 1 + len(l.Fields)
		}
		all = append(all, d)
	}
	return all
}

// detailsOf decodes all details of a page by process and row.
func detailsOf(t *testing.T, page string, h *header, p []*process) map[[2]int]detail {
	t.Helper()
	data := decoded(t, page, "details")
	all := make(map[[2]int]detail)
	i := 0
	for _, trace := range h.Traces {
		for _, of := range trace.Processes {
			var columns []row
			for _, r := range p[i].table.all() {
				columns = append(columns, slices.Clone(r))
			}
			var rows []uint32
			next := uint32(0)
			for run := range slices.Chunk(of.Details, 2) {
				next += run[0]
				for range run[1] {
					rows = append(rows, next)
					next++
				}
			}
			for k, n := range of.Chunks {
				part := rows[k*chunkSize : min(len(rows), (k+1)*chunkSize)]
				var of []row
				for _, r := range part {
					of = append(of, columns[r])
				}
				for j, d := range unpack(t, h.Details, data[:n], of) {
					all[[2]int{i, int(part[j])}] = d
				}
				data = data[n:]
			}
			i++
		}
	}
	if len(data) > 0 {
		t.Errorf("%d bytes of details are left", len(data))
	}
	return all
}

// TestDetailsOfMany: if there are many collections, a page has the details of the ones
// with the longest pauses, as many as fit in its size.
func TestDetailsOfMany(t *testing.T) {
	extent.Long(t, "packs 100,000 collections")
	for _, fixture := range []string{"net10-wks-web-collect", "net9-srv-datas-web-collect", "net8-srv-background"} {
		const many = 100_000
		var out bytes.Buffer
		trace := repeated(collections(t, "../../testdata/"+fixture+".nettrace.gz"), many)
		if err := (&Page{Traces: []*Trace{trace}}).Write(&out); err != nil {
			t.Fatal(err)
		}
		h := headerOf(t, out.String())
		all := detailsOf(t, out.String(), h, trace.processes)
		t.Logf("%s: %d bytes, columns %d, details %d of %d", fixture, out.Len(), len(decoded(t, out.String(), "columns")), len(all), many)
		if out.Len() > maxPage {
			t.Errorf("%s: %d bytes, at most %d are allowed", fixture, out.Len(), maxPage)
		}
		shortest, left := time.Duration(1<<62), time.Duration(0)
		for _, run := range trace.details.details {
			d := &run.Of
			if _, has := all[[2]int{0, d.row}]; has {
				shortest = min(shortest, d.pause)
			} else {
				left = max(left, d.pause)
			}
		}
		if len(all) < 1000 || left > shortest {
			t.Errorf("%s: %d have details, the shortest of %v, others up to %v", fixture, len(all), shortest, left)
		}
	}
}

// repeated makes a trace of some collections again and again, with other times and
// sizes.
func repeated(of []*gc.Collection, many int) *Trace {
	trace := &Trace{Name: "many.nettrace", Report: json.RawMessage(`{"processes":[]}`)}
	var shift time.Duration
	random := uint64(1)
	noise := func(n int64) int64 {
		random = random*6364136223846793005 + 1442695040888963407
		return int64(random>>33) % n
	}
	for i := range many {
		c := *of[i%len(of)]
		if i > 0 && i%len(of) == 0 {
			shift += of[len(of)-1].PauseStart.Or(0) + time.Second
		}
		later := func(o gc.Opt[time.Duration]) gc.Opt[time.Duration] {
			if v, known := o.Get(); known {
				return gc.Some(v + shift)
			}
			return o
		}
		c.Number = uint32(i + 1)
		c.Start, c.End, c.PauseStart = later(c.Start), later(c.End), later(c.PauseStart)
		c.Pauses = slices.Clone(c.Pauses)
		for j := range c.Pauses {
			c.Pauses[j].Start += shift
			c.Pauses[j].Duration += time.Duration(noise(500_000))
		}
		c.Generations = slices.Clone(c.Generations)
		for j := range c.Generations {
			g := &c.Generations[j]
			if after, known := g.After.Get(); known && after > 1<<20 {
				g.After = gc.Some(after + noise(1<<20)&^7)
			}
			if g.Out > 1<<16 {
				g.Out += noise(1<<15) &^ 7
			}
		}
		c.Marks = slices.Clone(c.Marks)
		for j := range c.Marks {
			c.Marks[j].Duration += time.Duration(noise(1 + int64(c.Marks[j].Duration)/4))
			if bytes, known := c.Marks[j].Bytes.Get(); known && bytes > 1<<10 {
				c.Marks[j].Bytes = gc.Some(bytes + noise(bytes/4)&^7)
			}
		}
		trace.Add(&c)
	}
	return trace
}

// TestTimeNames: every phase of pauses that there is has a name in the page.
func TestTimeNames(t *testing.T) {
	for _, c := range collections(t, "../../testdata/net10-wks-induced-collect.nettrace.gz") {
		for _, p := range c.PhaseTimes {
			if !slices.Contains(timeNames, p.Phase) {
				t.Fatal(p.Phase)
			}
		}
	}
	if len(timeNames) < 8 {
		t.Error(fmt.Sprint(timeNames))
	}
}

// TestEstimatedDetails: details of which some were packed for an estimate are the same as
// all packed at once, of one process and of several.
func TestEstimatedDetails(t *testing.T) {
	of := collections(t, "../../testdata/net9-srv-datas-web-collect.nettrace.gz")
	trace := repeated(of, sample*chunkSize+1)
	other := new(gc.Process)
	for _, c := range of[:len(of)/2] {
		elsewhere := *c
		elsewhere.Process = other
		trace.Add(&elsewhere)
	}
	page := &Page{Traces: []*Trace{trace}}
	all := page.fit(maxPage)
	want, err := all.pack()
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{1, want.bytes, 10 * want.bytes} {
		f := page.fit(room)
		bytes, err := f.estimate()
		if err != nil || (bytes == 0) != (room > 1) {
			t.Errorf("%d bytes of room: estimated as %d: %v", room, bytes, err)
		}
		if got, err := f.pack(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %d chunks of %d bytes instead of %d of %d", err, len(got.chunks), got.bytes, len(want.chunks), want.bytes)
		}
	}
}

// all yields the rows with their figures, which are valid until the next step.
func (t *table) all() iter.Seq2[int, row] {
	return func(yield func(int, row) bool) {
		rest := slices.Clone(t.data)
		n := len(columns)
		r, now, last := make(row, n), make([]int64, n), make([]int64, n)
		for at := range t.rows {
			for i := range columns {
				var d int64
				if d, rest[i] = readFigure(rest[i]); d == unknown {
					r[i], now[i] = unknown, 0
					continue
				}
				now[i] = d + likely(i, now, last)
				r[i] = now[i]
			}
			if !yield(at, r) {
				return
			}
			now, last = last, now
		}
	}
}
