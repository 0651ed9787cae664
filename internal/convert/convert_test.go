package convert_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/parquet-go/parquet-go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// An input is a trace without a file.
type input struct{ trace.Source }

func (in input) Name() string { return "test" }

func (in input) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	return m.Collections(in, models...)
}

const (
	web    = "../../testdata/net10-wks-web-collect.nettrace.gz"
	stacks = "../../testdata/net10-wks-stacks.nettrace.gz"
)

// converted returns the first part of a trace in a format.
func converted(t *testing.T, file, format string) []byte {
	t.Helper()
	out, err := convertTo(t, file, format, new(selection.Selection))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func convertTo(t *testing.T, file, format string, o *selection.Selection) ([]byte, error) {
	t.Helper()
	c := convert.New(convert.Named(format), o, false)
	in, err := open.Files([]string{file}, open.Options{Want: c.Wants(), Stacks: c.Stacks()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out bytes.Buffer
	err = c.Write(input{in.Source}, []io.Writer{&out})
	return out.Bytes(), err
}

// expected are sums over the collections of a trace, computed from the model itself.
type expected struct {
	count     int
	pauses    int
	pause     time.Duration
	heapAfter int64
	last      time.Duration
}

func expect(t *testing.T, file string) expected {
	t.Helper()
	in, err := open.Files([]string{file}, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var e expected
	var m gc.Model
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		e.count++
		e.heapAfter += c.HeapAfter.Or(0)
		for i := range c.Pauses {
			e.pauses++
			e.pause += c.Pauses[i].Duration
			e.last = max(e.last, c.Pauses[i].End())
		}
	}
	if e.count == 0 {
		t.Fatalf("%s has no collections", file)
	}
	return e
}

// fields splits a protobuf message into its fields, in order.
func fields(t *testing.T, b []byte, each func(n protowire.Number, v uint64, sub []byte)) {
	t.Helper()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var sub []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			sub, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has type %d", num, typ)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		each(num, v, sub)
	}
}

// TestPerfetto reads Perfetto's tracks back: the slices of pauses are as many and as long
// as the pauses, slices of a track do not overlap, and every track is described before it
// is used.
func TestPerfetto(t *testing.T) {
	for _, file := range []string{web, "../../testdata/net10-wks-background-collect.nettrace.gz"} {
		want := expect(t, file)
		names := make(map[uint64]string)
		open := make(map[uint64]uint64) // by track: where a slice began
		slices := make(map[uint64][][2]uint64)
		var pauses int
		var pause time.Duration
		instants := map[string]int{}
		flows := map[uint64]int{} // by flow, how often
		fields(t, converted(t, file, "perfetto"), func(_ protowire.Number, _ uint64, packet []byte) {
			var at, typ, track uint64
			fields(t, packet, func(n protowire.Number, v uint64, sub []byte) {
				switch n {
				case 8:
					at = v
				case 60:
					var uuid uint64
					fields(t, sub, func(n protowire.Number, v uint64, sub []byte) {
						switch n {
						case 1:
							uuid = v
							names[uuid] = "process"
						case 2:
							names[uuid] = string(sub)
						}
					})
				case 11:
					fields(t, sub, func(n protowire.Number, v uint64, _ []byte) {
						switch n {
						case 9:
							typ = v
						case 11:
							track = v
						case 47:
							flows[v]++
						}
					})
				}
			})
			if typ == 0 {
				return
			}
			if names[track] == "" {
				t.Fatalf("track %d was not described", track)
			}
			switch typ {
			case 1:
				open[track] = at
			case 2:
				slices[track] = append(slices[track], [2]uint64{open[track], at})
				if name, _, _ := strings.Cut(names[track], ","); strings.HasSuffix(name, "GC pauses") {
					pauses++
					pause += time.Duration(at - open[track])
				}
			case 3:
				instants[names[track]]++
			}
		})
		for track, all := range slices {
			sort.Slice(all, func(i, j int) bool { return all[i][0] < all[j][0] })
			for i := 1; i < len(all); i++ {
				if all[i][0] < all[i-1][1] {
					t.Errorf("%s: a slice begins at %d, before the one before it ends at %d", names[track], all[i][0], all[i-1][1])
				}
			}
		}
		if pauses != want.pauses || pause != want.pause {
			t.Errorf("%s: %d pauses of %v, want %d of %v", file, pauses, pause, want.pauses, want.pause)
		}
		if instants["Findings"] == 0 || instants["GCs that findings quote"] != len(flows) {
			t.Errorf("%s: instants %v, %d arrows", file, instants, len(flows))
		}
		for flow, ends := range flows {
			if ends != 2 {
				t.Errorf("%s: arrow %d has %d ends", file, flow, ends)
			}
		}
	}
}

func TestParquet(t *testing.T) {
	want := expect(t, web)
	data := converted(t, web, "parquet")
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != int64(want.count) {
		t.Errorf("%d rows, want %d", f.NumRows(), want.count)
	}
	columns := make(map[string]int)
	for i, c := range f.Schema().Columns() {
		columns[c[0]] = i
	}
	var pause float64
	var heap int64
	rows := f.RowGroups()[0].Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(buffer)
		for _, r := range buffer[:n] {
			pause += r[columns["pause_ms"]].Double()
			heap += r[columns["heap_after_bytes"]].Int64()
			if kind := string(r[columns["kind"]].ByteArray()); kind == "" {
				t.Error("a collection has no kind")
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if ms := float64(want.pause) / 1e6; math.Abs(pause-ms) > 1e-6*ms || heap != want.heapAfter {
		t.Errorf("pauses of %v ms and heaps of %d bytes, want %v and %d", pause, heap, ms, want.heapAfter)
	}
	if columns["number"] > columns["gen0_before_bytes"] || columns["start_time"] != 0 {
		t.Errorf("columns are not in their order: %v", f.Schema().Columns())
	}
}

// TestParquetEvents: in a folder, each event has a row, with the fields that the events
// command prints.
func TestParquetEvents(t *testing.T) {
	c := convert.New(convert.Named("parquet"), new(selection.Selection), true)
	in, err := open.Files([]string{stacks}, open.Options{Want: c.Wants(), Stacks: c.Stacks()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	names := convert.Named("parquet").Files("x")
	outs := make([]bytes.Buffer, len(names))
	writers := make([]io.Writer, len(outs))
	for i := range outs {
		writers[i] = &outs[i]
	}
	if err := c.Write(input{in.Source}, writers); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Time     int64   `parquet:"time,optional"`
		TimeMS   float64 `parquet:"time_ms,optional"`
		Provider string  `parquet:"provider,optional"`
		Name     string  `parquet:"name,optional"`
		Data     string  `parquet:"data_json,optional"`
		Stack    string  `parquet:"stack,optional"`
	}
	data := outs[len(outs)-1].Bytes()
	rows, err := parquet.Read[row](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := open.Files([]string{stacks}, open.Options{Stacks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	lines := jsonl.Events{}
	i := 0
	for ev, err := range again.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if i == len(rows) {
			t.Fatalf("%d rows are too few", i)
		}
		lines.Start = again.Source.Info().Start
		line := string(lines.AppendEvent(nil, ev))
		r := rows[i]
		at := lines.Start.Add(ev.Time())
		if !strings.Contains(line, r.Data[1:len(r.Data)-1]) || !json.Valid([]byte(r.Data)) || r.Provider != ev.Desc.Provider ||
			!strings.Contains(line, `"`+r.Name+`"`) || r.Time != at.UnixNano() || r.TimeMS != ev.Millis() {
			t.Fatalf("row %d is %+v, of %s", i, r, line)
		}
		if frames := strings.Count(r.Stack, "0x"); frames != len(ev.AppendStack(nil)) {
			t.Fatalf("row %d has %d addresses of %d", i, frames, len(ev.AppendStack(nil)))
		}
		i++
	}
	if i != len(rows) || i == 0 {
		t.Errorf("%d rows of %d events", len(rows), i)
	}
}

func TestPprof(t *testing.T) {
	p, err := profile.ParseData(converted(t, stacks, "pprof"))
	if err != nil {
		t.Fatal(err)
	}
	var bytes int64
	named := false
	for _, s := range p.Sample {
		bytes += s.Value[1]
		if s.Value[0] <= 0 || len(s.Label["type"]) != 1 || len(s.Label["heap"]) != 1 {
			t.Errorf("sample %v with labels %v", s.Value, s.Label)
		}
		named = named || strings.HasPrefix(s.Location[0].Line[0].Function.Name, "GcLoad")
	}
	if want := collapsedSum(t); bytes != want {
		t.Errorf("%d bytes, want %d", bytes, want)
	}
	if !named {
		t.Error("no stack begins in the program")
	}
}

// TestHeapProfile: a trace without allocations has the stacks of a heap snapshot, which is a
// moment.
func TestHeapProfile(t *testing.T) {
	for _, byPath := range []bool{false, true} {
		c := convert.New(convert.Named("pprof"), new(selection.Selection), false)
		c.ByPath = byPath
		in, err := open.Files([]string{"../../testdata/net10-wks-leak.nettrace.gz"}, open.Options{Want: c.Wants(), Stacks: c.Stacks()})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out bytes.Buffer
		if err := c.Write(input{in.Source}, []io.Writer{&out}); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		var objects, size, leaked int64
		for _, s := range p.Sample {
			objects += s.Value[0]
			size += s.Value[1]
			for _, l := range s.Location {
				if l.Line[0].Function.Name == "leak (static)" {
					leaked += s.Value[1]
				}
			}
		}
		if p.SampleType[0].Type != "inuse_objects" || p.DefaultSampleType != "inuse_space" || objects != 17766 || size != 3048773 || leaked != 1937280 || c.Live != objects {
			t.Errorf("by path %t: %d objects of %d bytes, leaked %d", byPath, objects, size, leaked)
		}
		if want := in.Source.Info().Start.Add(c.Snapshot.Start.Or(0)); p.TimeNanos != want.UnixNano() || p.DurationNanos != 0 {
			t.Errorf("%d for %d", p.TimeNanos, p.DurationNanos)
		}
	}
}

// collapsedSum returns the sum over collapsed stacks.
func collapsedSum(t *testing.T) (sum int64) {
	t.Helper()
	for line := range strings.Lines(string(converted(t, stacks, "collapsed"))) {
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseInt(strings.TrimSpace(line[i:]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if frames := strings.Split(line[:i], ";"); !strings.HasPrefix(frames[len(frames)-1], "Type ") {
			t.Errorf("line without a type: %s", line)
		}
		sum += n
	}
	if sum == 0 {
		t.Fatal("no stacks")
	}
	return sum
}

func TestSpeedscope(t *testing.T) {
	var f struct {
		Shared struct {
			Frames []struct{ Name string }
		}
		Profiles []struct {
			Type     string
			Unit     string
			EndValue int64
			Samples  [][]int
			Weights  []int64
		}
	}
	if err := json.Unmarshal(converted(t, stacks, "speedscope"), &f); err != nil {
		t.Fatal(err)
	}
	p := f.Profiles[0]
	if len(f.Profiles) != 1 || p.Type != "sampled" || p.Unit != "bytes" || len(p.Samples) != len(p.Weights) {
		t.Fatalf("profiles %+v", f.Profiles)
	}
	var sum int64
	for i, s := range p.Samples {
		sum += p.Weights[i]
		for _, n := range s {
			if n >= len(f.Shared.Frames) {
				t.Fatalf("sample %d has frame %d of %d", i, n, len(f.Shared.Frames))
			}
		}
	}
	if want := collapsedSum(t); sum != want || p.EndValue != want {
		t.Errorf("%d bytes, end %d, want %d", sum, p.EndValue, want)
	}
}

var metric = regexp.MustCompile(`^([a-z_]+)\{([^}]*)\} (\S+) (\d+)\.\d{3}$`)

func TestOpenMetrics(t *testing.T) {
	want := expect(t, web)
	text := string(converted(t, web, "openmetrics"))
	last := make(map[string]float64) // by series
	sums := make(map[string]float64)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := metric.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %q", line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		series := m[1] + "{" + m[2]
		if v < last[series] && !strings.Contains(m[1], "last_collection") {
			t.Errorf("%s falls from %v to %v", series, last[series], v)
		}
		sums[m[1]] += v - last[series]
		last[series] = v
	}
	if n := sums["dotnet_gc_collections_total"]; n != float64(want.count) {
		t.Errorf("%v collections, want %d", n, want.count)
	}
	if n := sums["dotnet_gc_pause_duration_seconds_count"]; n != float64(want.pauses) {
		t.Errorf("%v pauses, want %d", n, want.pauses)
	}
	if s := sums["dotnet_gc_pause_time_seconds_total"]; math.Abs(s-want.pause.Seconds()) > 1e-9 {
		t.Errorf("pauses of %v s, want %v", s, want.pause.Seconds())
	}
	if !strings.HasSuffix(text, "# EOF\n") {
		t.Error("no end")
	}
	promtool(t, text)
}

// promtool has Prometheus read the text.
func promtool(t *testing.T, text string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Log("no promtool: Prometheus does not check the text")
		return
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x.om")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", file, dir).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v: %s", err, out)
	}
}

func TestLines(t *testing.T) {
	want := expect(t, web)
	if n := bytes.Count(converted(t, web, "csv"), []byte("\n")); n != want.count+1 {
		t.Errorf("csv has %d lines, want %d", n, want.count+1)
	}
	if n := bytes.Count(converted(t, web, "jsonl"), []byte("\n")); n != want.count {
		t.Errorf("jsonl has %d lines, want %d", n, want.count)
	}
}

// TestNothing: every format reports a trace without data for it.
func TestNothing(t *testing.T) {
	var none selection.Selection
	if err := none.From.Set("1h"); err != nil {
		t.Fatal(err)
	}
	for _, f := range convert.Formats() {
		if _, err := convertTo(t, web, f.Name, &none); !errors.Is(err, convert.ErrNothing) {
			t.Errorf("%s: error %v", f.Name, err)
		}
	}
}

func TestFormatOfSuffix(t *testing.T) {
	for path, want := range map[string]string{
		"a.pftrace": "perfetto", "b.pb.gz": "pprof", "c.speedscope.json": "speedscope", "D.PARQUET": "parquet", "e.json": "", "f": "",
	} {
		name := ""
		if f := convert.For(path); f != nil {
			name = f.Name
		}
		if name != want {
			t.Errorf("%s is %q, want %q", path, name, want)
		}
	}
}
