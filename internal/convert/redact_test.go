package convert_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/ulikunitz/xz"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/open"
)

// redactedFiles are traces of all formats.
var redactedFiles = []string{
	"net10-wks-stacks.nettrace.gz", "net10-wks-web-collect.nettrace.gz", "net10-wks-oom-exceptions.nettrace.gz",
	"net10-wks-sampler-web.nettrace.gz", "net10-wks-pin-collect.nettrace.gz", "net10-wks-throttled-collect.nettrace.gz",
	"net10-killed-web.nettrace.gz", "net10-wks-own-threads-collect.nettrace.gz", "net8-wks-conservative-web.nettrace.gz",
	"net9-srv-datas-all.nettrace.gz", "net10-wks-hardlimit-web-collect.nettrace.gz", "net31-srv-uneven.nettrace.gz",
	"net30-win-x64-survival.nettrace.gz", "net21-win-x86-objver3.netperf.gz",
	"net8-win-x64-gcevents.etl.zip", "netfx452-win-x64-head.etl.zip",
	"net31-net9-lttng.trace.zip", "lttng216-ctf2.trace.zip", "coreclr1-srv-lttng.trace.zip", "net9-lttng-snapshot.trace.zip",
	"net20-lttng-gcstart-gcend.trace.zip",
}

// shared returns the paths of further traces; none unless they are next to the module.
func shared(t *testing.T, patterns ...string) []string {
	t.Helper()
	root := os.Getenv("GCTRAIL_SHARED")
	if root == "" {
		root = "../../../shared"
	}
	var all []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// TestRedactedStrings searches a redacted trace, and a table made of it, for the texts of
// the original in UTF-8 and UTF-16: of its events in any provider, of its processes and
// of its files. A run of all does half of them in each turn.
func TestRedactedStrings(t *testing.T) {
	files := slices.Clone(redactedFiles)
	if !extent.All() { // some of .nettrace, and no traces with much text
		files = slices.DeleteFunc(files[6:], func(f string) bool { return strings.HasPrefix(f, "net30") || strings.HasPrefix(f, "net21") })
	}
	for i := range files {
		files[i] = filepath.Join("../../testdata", files[i])
	}
	searchAll(t, extent.Share(files, 2), 1000)
}

// TestRedactedShared does so with further traces.
func TestRedactedShared(t *testing.T) {
	extent.Long(t, "searches large traces")
	files := shared(t, "damage/redact-*.gz", "traces/lttng/*.tar.xz", "traces/lttng/*.zip", "traces/etw/*.zip", "traces/eventpipe/*private*.nettrace.gz",
		"traces/eventpipe/*all-providers*.nettrace.gz", "traces/lab/concat-alloc.nettrace.gz", "traces/heap/net10-wks-rich.nettrace.xz")
	if len(files) == 0 {
		t.Skip("no traces beside the module: set GCTRAIL_SHARED")
	}
	searchAll(t, extent.Share(files, 3), 1000)
}

// TestTextsAreFound checks that the search finds texts that exist: in a trace that is not
// redacted, and in the packed pages of its tables.
func TestTextsAreFound(t *testing.T) {
	texts := textsOf(t, stacks)
	plain := rewritten(t, stacks, convert.EventOptions{})
	if n := len(texts.in(plain)); n < 1000 {
		t.Errorf("%d texts in the trace", n)
	}
	if n := len(texts.in(tablesOf(t, plain))); n < 1000 {
		t.Errorf("%d texts in the tables", n)
	}
}

// maxTabled bounds the traces whose tables are searched, because that takes as long as
// the rest.
const maxTabled = 2 << 20

func searchAll(t *testing.T, files []string, least int) {
	t.Helper()
	looked := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			texts := textsOf(t, file)
			looked += len(texts.found)
			out := redacted(t, file, convert.RedactOptions{})
			texts.none(t, "the trace", out)
			if len(out) < maxTabled {
				texts.none(t, "a table", tablesOf(t, out))
			}
		})
	}
	if looked < least && !t.Failed() {
		t.Errorf("%d texts were looked for, expected %d at least", looked, least)
	}
	t.Logf("%d texts", looked)
}

// minText is the length from which texts are looked for.
const minText = 6

// texts are the texts of a trace, by their first minText bytes.
type texts struct {
	begins   [1 << 16]bool // some text, with these two bytes
	found    map[string]bool
	index    map[string][]string
	verdicts map[[3]string]bool // of isDefined
}

// add adds a text and the words in it, unless the runtime defines them.
func (x *texts) add(s string) {
	for _, part := range append(words.Split(s, -1), s) {
		if len(part) < minText || x.found[part] || !utf8.ValidString(part) || strings.Trim(part, "0123456789") == "" { // digits are in figures
			continue
		}
		x.found[part] = true
		x.begins[pair(part)] = true
		x.index[part[:minText]] = append(x.index[part[:minText]], part)
	}
}

// pair returns the first two bytes as a number.
func pair[T string | []byte](s T) int { return int(s[0])<<8 | int(s[1]) }

var words = regexp.MustCompile("[^0-9A-Za-z_\u0080-\U0010ffff]+")

// defined are texts that do not depend on the program: the names of the runtime's
// providers, events, fields and their values, names of the formats, and columns of
// tables.
var defined = sync.OnceValue(func() []string {
	data, err := os.ReadFile("../../clr/events.json")
	if err != nil {
		panic(err)
	}
	all := []string{
		clr.SampleProvider, "System.OutOfMemoryException", "/Microsoft.NETCore.App/", "HardwareThreadCount", "fields_text", `"fields"`,
		"00000000-0000-0000-0000-000000000000", "!FastSerialization.1", "MetadataBlock", "StackBlock", "collections", "allocations",
		"DOTNET_GCgen0size=0x2000000", ".NET Framework 4.0.30319.34209", // a setting and a version, which stay
	}
	for _, m := range regexp.MustCompile(`"([^" ]{6,})"`).FindAllSubmatch(data, -1) {
		all = append(all, string(m[1]))
	}
	for _, table := range tables(rewrittenEmpty) {
		f, err := parquet.OpenFile(bytes.NewReader(table), int64(len(table)))
		if err != nil {
			panic(err)
		}
		for _, c := range f.Schema().Columns() {
			all = append(all, c...)
		}
	}
	return all
})

// rewrittenEmpty is a trace without events.
var rewrittenEmpty = func() []byte {
	var out bytes.Buffer
	w, err := nettrace.NewWriter(&out, nettrace.WriterOptions{Version: 6, Start: time.Unix(1, 0)})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return out.Bytes()
}()

// isDefined reports whether a part of data, in a line of text, is within a defined text.
func (x *texts) isDefined(data []byte, from, to int) bool {
	inLine := func(c byte) bool { return c >= ' ' && c < 0x7f }
	before, after := from, to
	for before > 0 && inLine(data[before-1]) && from-before < 60 {
		before--
	}
	for after < len(data) && inLine(data[after]) && after-to < 60 {
		after++
	}
	key := [...]string{string(data[before:from]), string(data[from:to]), string(data[to:after])}
	verdict, known := x.verdicts[key]
	if !known {
		verdict = isWithin(key[0]+key[1]+key[2], len(key[0]), key[1])
		x.verdicts[key] = verdict
	}
	return verdict
}

// isWithin reports whether a part of a line is within a defined text.
func isWithin(line string, at int, part string) bool {
	for _, d := range defined() {
		for i := strings.Index(d, part); i >= 0; i = next(d, part, i) {
			if i <= at && strings.HasPrefix(line[at-i:], d) {
				return true
			}
		}
	}
	return false
}

// next returns the place of text in s after the one at at, -1 if there is none.
func next(s, text string, at int) int {
	i := strings.Index(s[at+1:], text)
	if i < 0 {
		return -1
	}
	return at + 1 + i
}

// in returns the texts found in data, each with its surroundings.
func (x *texts) in(data []byte) map[string]string {
	all := make(map[string]string)
	for _, narrow := range [][]byte{data, wide(data, 0), wide(data, 1)} {
		for i := 0; i+minText <= len(narrow); i++ {
			if !x.begins[pair(narrow[i:])] {
				continue
			}
			for _, s := range x.index[string(narrow[i:i+minText])] {
				if bytes.HasPrefix(narrow[i:], []byte(s)) && !x.isDefined(narrow, i, i+len(s)) {
					all[s] = string(narrow[max(0, i-20):min(len(narrow), i+len(s)+20)])
				}
			}
		}
	}
	return all
}

// none fails the test for each text that is in data.
func (x *texts) none(t *testing.T, where string, data []byte) {
	t.Helper()
	for s, around := range x.in(data) {
		t.Errorf("%s has %q: %q", where, s, around)
	}
}

// wide returns the UTF-16 in data from an offset on as UTF-8.
func wide(data []byte, from int) []byte { return []byte(clr.UTF16(data[from:]).String()) }

// textsOf returns the texts of a trace: in its decoded events, in the bytes of events that
// nobody describes, and in its files.
func textsOf(t *testing.T, file string) *texts {
	t.Helper()
	x := &texts{found: make(map[string]bool), index: make(map[string][]string), verdicts: make(map[[3]string]bool)}
	in, err := open.Files([]string{file}, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var lines jsonl.Events
	for ev, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		x.add(ev.Desc.Provider)
		x.add(ev.Desc.Name)
		for _, f := range ev.Desc.Fields {
			x.add(f.Name)
		}
		if ev.Labels != nil {
			for _, l := range ev.Labels.Text {
				x.add(l.Name)
				x.add(l.Value)
			}
		}
		var line struct {
			Fields  any
			Payload string
		}
		if err := json.Unmarshal(lines.AppendEvent(nil, ev), &line); err != nil {
			t.Fatal(err)
		}
		x.collect(line.Fields)
		payload, _ := base64.StdEncoding.DecodeString(line.Payload)
		x.runs(payload)
	}
	for _, p := range in.Source.Info().Processes {
		x.add(p.Name)
		x.add(p.CommandLine)
	}
	for name, data := range members(t, file) {
		x.add(name)
		if filepath.Base(name) == "metadata" {
			x.runs(data)
		}
		for _, s := range wideRun.FindAll(data, -1) {
			x.add(clr.UTF16(s).String())
		}
	}
	return x
}

func (x *texts) collect(v any) {
	switch v := v.(type) {
	case string:
		if !guid.MatchString(v) {
			x.add(v)
		}
	case []any:
		for _, e := range v {
			x.collect(e)
		}
	case map[string]any:
		for key, e := range v {
			if key == "Data" { // the bytes of a dynamic event, in base64
				continue
			}
			x.collect(e)
		}
	}
}

var (
	guid      = regexp.MustCompile(`^\{?[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\}?$`)
	narrowRun = regexp.MustCompile(`[ -~]{6,}`)
	wideRun   = regexp.MustCompile(`(?:[ -~]\x00){6,}`)
)

// runs adds the texts in bytes that are not described.
func (x *texts) runs(data []byte) {
	for _, s := range narrowRun.FindAll(data, -1) {
		x.add(string(s))
	}
	for _, s := range wideRun.FindAll(data, -1) {
		x.add(clr.UTF16(s).String())
	}
}

// members returns the files of a trace, unpacked.
func members(t *testing.T, file string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]byte)
	read := func(name string, r io.Reader, err error) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		all[name] = b
	}
	switch ext := filepath.Ext(file); {
	case ext == ".zip":
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			if f.Mode()&fs.ModeDir == 0 {
				r, err := f.Open()
				read(f.Name, r, err)
			}
		}
	case ext == ".gz":
		r, err := gzip.NewReader(bytes.NewReader(data))
		read("", r, err)
	case ext == ".xz":
		r, err := xz.NewReader(bytes.NewReader(data))
		if !strings.HasSuffix(file, ".tar.xz") {
			read("", r, err)
			break
		}
		for archive := tar.NewReader(r); ; {
			h, err := archive.Next()
			if err != nil {
				break
			}
			read(h.Name, archive, nil)
		}
	}
	return all
}

// tablesOf returns the tables of a trace in Parquet, with their pages unpacked.
func tablesOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var all []byte
	for _, table := range tables(data) {
		all = append(all, unpacked(t, table)...)
	}
	return all
}

// tables returns the tables of a trace in Parquet.
func tables(data []byte) (all [][]byte) {
	c := convert.New(convert.Named("parquet"), new(selection.Selection), true)
	src := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: c.Wants(), Stacks: c.Stacks()})
	outs := make([]bytes.Buffer, len(convert.Named("parquet").Files("x")))
	writers := make([]io.Writer, len(outs))
	for i := range outs {
		writers[i] = &outs[i]
	}
	if err := c.Write(input{src}, writers); err != nil && !errors.Is(err, convert.ErrNothing) {
		panic(err)
	}
	for i := range outs {
		all = append(all, outs[i].Bytes())
	}
	return all
}

// unpacked returns the pages of a file in Parquet, unpacked, and its footer.
func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	out := bytes.Clone(data[len(data)-8-int(binary.LittleEndian.Uint32(data[len(data)-8:])):])
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for rest := data; ; rest = rest[1:] {
		i := bytes.Index(rest, magic)
		if i < 0 {
			return out
		}
		rest = rest[i:]
		d, err := zstd.NewReader(bytes.NewReader(rest), zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		page, _ := io.ReadAll(d) // the rest after a page is not one
		d.Close()
		out = append(out, page...)
	}
}
