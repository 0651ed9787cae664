package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/schema"
)

// resolved are all schemas, ready to validate with.
func resolved(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	all := make(map[string]*jsonschema.Resolved)
	for _, name := range schema.Names() {
		text, err := schemaOf(name)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if all[name], err = s.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// The commands whose output a schema is of, without their traces.
var published = map[string][][]string{
	"gcs":           {{"gcs", "--format", "jsonl"}},
	"gcs-per-heap":  {{"gcs", "--per-heap", "--format", "jsonl"}},
	"events":        {{"events"}},
	"report":        {{"report", "--full", "--format", "json"}},
	"allocs":        {{"allocs", "--format", "jsonl"}, {"allocs", "--by", "type,stack", "--format", "jsonl"}, {"allocs", "--by", "method", "--format", "jsonl"}, {"allocs", "--by", "heap", "--format", "jsonl"}},
	"handles":       {{"handles", "--format", "jsonl"}},
	"pins":          {{"pins", "--format", "jsonl"}},
	"joins-tunings": {{"joins", "--tunings", "--format", "jsonl"}},
	"finalizers":    {{"finalizers", "--format", "jsonl"}},
	"requests":      {{"requests", "--format", "jsonl"}},
	"requests-sums": {{"requests", "--by", "route", "--format", "jsonl"}},
	"heap":          {{"heap", "--format", "jsonl"}, {"heap", "--per-heap", "--format", "jsonl"}},
	"objects":       {{"objects", "--format", "json"}},
	"objects-tree":  {{"objects", "--tree", "--format", "json"}},
	"objects-free":  {{"objects", "--free", "gaps", "--format", "jsonl"}, {"objects", "--free", "pins", "--format", "jsonl"}},
	"objects-rows": {
		{"objects", "--format", "jsonl"},
		{"objects", "--by", "module", "--format", "jsonl"},
		{"objects", "--by", "generation", "--format", "jsonl"},
		{"objects", "--by", "root", "--format", "jsonl"},
		{"objects", "--by", "dominator", "--format", "jsonl"},
		{"objects", "--by", "path", "--format", "jsonl"},
		{"objects", "--tree", "--format", "jsonl"},
		{"objects", "--root", "stack", "--format", "jsonl"},
		{"objects", "--root", "dependent", "--format", "jsonl"},
	},
	"phases":             {{"phases", "--format", "jsonl"}},
	"phases-blocking":    {{"phases", "--blocking", "--format", "jsonl"}},
	"pauses-percentiles": {{"pauses", "--show", "percentiles", "--format", "jsonl"}},
	"pauses-windows":     {{"pauses", "--show", "windows", "--format", "jsonl"}},
	"pauses-bottlenecks": {{"pauses", "--show", "bottlenecks", "--format", "jsonl"}},
}

// listOf returns the command line of a command with its trace before its flags.
func listOf(trace string, args ...string) []string {
	return slices.Concat(args[:1], []string{filepath.Join("../../testdata", trace)}, args[1:])
}

// TestSchemas: the commands' output on real traces agrees with the schemas.
func TestSchemas(t *testing.T) {
	t.Parallel()
	all := resolved(t)
	paths := []string{
		"net10-wks-requests.nettrace.gz", "net10-wks-leak.nettrace.gz",
		"net10-wks-stacks.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz", "net31-net9-lttng.trace.zip", "net10-wks-handles-collect.nettrace.gz",
		"net10-wks-pin-collect.nettrace.gz", "net10-wks-finalizers-collect.nettrace.gz", "net8-win-x64-gcevents.etl.zip", "net10-wks-background-collect.nettrace.gz",
		"net10-lossy-handles.nettrace.gz",
	}
	for i, name := range slices.Sorted(maps.Keys(published)) {
		lines := 0
		for j, args := range published[name] {
			of := 0 // the command
			for k, path := range paths {
				if of > 0 && (!extent.Sparse(i+j+k, 5) || !extent.Due(i+j+k, 2)) {
					continue // a command with lines is looked at for some traces
				}
				out, talk, code := onOnce(t, 0, listOf(path, args...)...)
				if code != exitDone {
					t.Fatalf("%v of %s: exit %d: %s", args, path, code, talk)
				}
				of += validate(t, all[name], name, out)
			}
			lines += of
		}
		if lines == 0 {
			t.Errorf("%s: no trace has any", name)
		}
	}
}

// validate returns the number of lines.
func validate(t *testing.T, s *jsonschema.Resolved, name, out string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(out) {
		if n++; n > 200 {
			break
		}
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
	}
	return n
}

// TestSchemasOfRuns is TestSchemas for commands that compare runs, and for ps.
func TestSchemasOfRuns(t *testing.T) {
	all := resolved(t)
	one, two := "../../testdata/net10-wks-web-collect.nettrace.gz", "../../testdata/net10-wks-highmem-web-collect.nettrace.gz"
	budget := filepath.Join(t.TempDir(), "budget.yaml")
	if err := os.WriteFile(budget, []byte("version: 1\nlimits: {pause_max_ms: 1}\nbaseline: {pause_max_ms: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"diff":    {"diff", "--format", "json", one, two},
		"trend":   {"trend", "--format", "json", one, two, one, two},
		"what-if": {"what-if", "--set", "GCgen0size=64M", "--set", "GCHeapHardLimit=100M", "--format", "json", one},
		"check":   {"check", "--format", "json", "--budget", budget, "--baseline", one, two},
	} {
		out, talk, _ := on(t, 0, args...)
		if validate(t, all[name], name, out) != 1 {
			t.Errorf("%v: %s", args, talk)
		}
	}
	var ps bytes.Buffer
	for _, p := range []*diag.Process{{}, {PID: 7, Name: "web"}} {
		b, err := json.Marshal(lineOf(p))
		if err != nil {
			t.Fatal(err)
		}
		ps.Write(append(b, '\n'))
	}
	validate(t, all["ps"], "ps", ps.String())
	var tried bytes.Buffer
	for _, r := range triedResults() {
		if err := r.WriteJSON(&tried); err != nil {
			t.Fatal(err)
		}
	}
	validate(t, all["try"], "try", tried.String())
	for _, number := range []bool{false, true} {
		var row bytes.Buffer
		if err := list.NewWriter(&list.File{Out: &row, Format: list.JSONL}, joinFields(number)).Row(new(joinRow)); err != nil {
			t.Fatal(err)
		}
		validate(t, all["joins"], "joins", row.String())
	}
}

// TestSchemasOfFleet is TestSchemas for the stores of many processes, and for ledgers.
func TestSchemasOfFleet(t *testing.T) {
	all, path := resolved(t), fleetFolder(t)
	for name, args := range map[string][]string{
		"fleet-gcs":     {"gcs", "--format", "jsonl"},
		"fleet-oom":     {"oom", "--format", "jsonl"},
		"fleet-top":     {"top", "--format", "jsonl"},
		"fleet-compare": {"compare", "--format", "json", "service_version=1.0", "service_version=1.1"},
	} {
		code, out, talk := fleetRun(t, append(args, "--store", path)...)
		if code != exitDone || validate(t, all[name], name, out) == 0 {
			t.Errorf("%v: exit %d: %s", args, code, talk)
		}
	}

	file := filepath.Join(t.TempDir(), "web"+ledger.Suffix)
	w, err := ledger.Create(file, ledger.Process{Name: "web", PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	r := ledger.Record{Time: time.Unix(1, 0), RSS: gc.Some(int64(5))}
	if err := errors.Join(w.Put(&r), w.Close(nil)); err != nil {
		t.Fatal(err)
	}
	out, talk, _ := on(t, 0, "ledger", "--format", "jsonl", file)
	if validate(t, all["ledger"], "ledger", out) != 1 {
		t.Errorf("ledger: %s%s", out, talk)
	}
}

// TestSchemaRefuses: a schema refuses unknown members.
func TestSchemaRefuses(t *testing.T) {
	s := resolved(t)["finalizers"]
	for text, ok := range map[string]bool{
		`{"pid":1,"count":2,"type":"A"}`:          true,
		`{"pid":null,"count":2,"type":null}`:      true,
		`{"pid":1,"count":"2","type":"A"}`:        false,
		`{"pid":1,"type":"A"}`:                    false,
		`{"pid":1,"count":2,"type":"A","more":1}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSchemaFiles holds docs/schemas to the schemas; -update writes them.
func TestSchemaFiles(t *testing.T) {
	for _, name := range schema.Names() {
		path := filepath.Join("../../docs/schemas", name+".schema.json")
		want, err := schemaOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if extent.Update() {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is old: run go generate ./internal/cli\n%s", path, diff)
		}
	}
}
