package emit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/trace"
)

// TestBabeltraceReadsEveryEvent: Babeltrace reads an LTTng trace of every event in every
// version with all fields, and without a complaint.
func TestBabeltraceReadsEveryEvent(t *testing.T) {
	tool, err := exec.LookPath("babeltrace2")
	if err != nil {
		t.Skip("babeltrace2 is not installed")
	}
	for nth := range 5 {
		versions := map[clr.Kind]uint32{}
		for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
			n := 0
			for v := range k.Versions() {
				if n <= nth {
					versions[k] = v
				}
				n++
			}
		}
		p := newProvider(t, emit.ProviderOptions{Versions: versions, Process: emit.Process{PID: 12, CommandLine: "/bin/shop -x"}})
		dir := t.TempDir()
		s, err := p.CreateCTF(dir, emit.SessionOptions{Providers: everything, NoRundown: true})
		if err != nil {
			t.Fatal(err)
		}
		thread := p.NewThread() // keeps the order
		var want []string
		rng := rand.New(rand.NewPCG(2, uint64(nth)))
		for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
			e := k.New()
			fill(rng, reflect.ValueOf(e).Elem())
			thread.Raise(e)
			if c, ok := k.Tracepoint(versions[k], 8); ok {
				want = append(want, fmt.Sprintf(`%s: { cpu_id = 0 }, { vpid = 12, vtid = %d, procname = "shop" }, { %s}`,
					c.Name, thread.ID(), babeltraceFields(t, &c, e, versions[k])))
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(tool, dir)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil || complaints.Len() > 0 {
			t.Fatalf("%v: %s", err, complaints.String())
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%d lines, want %d", len(lines), len(want))
		}
		for i := range lines {
			if !strings.HasSuffix(lines[i], " "+want[i]) {
				t.Errorf("got  %s\nwant … %s", lines[i], want[i])
			}
		}
	}
}

// babeltraceFields returns the fields of an event as Babeltrace prints them.
func babeltraceFields(t *testing.T, c *clr.TracepointClass, e clr.Event, version uint32) string {
	payload := e.Append(nil, version, 8)
	var out []string
	if c.Packed {
		var data []string
		for i, b := range payload {
			data = append(data, fmt.Sprintf("[%d] = %d", i, int8(b)))
		}
		return fmt.Sprintf("length = %d, ___data___length = %[1]d, __data__ = [ %s ] ", len(payload), strings.Join(data, ", "))
	}
	var decoder clr.Decoder
	k := e.EventKind()
	line := decoder.AppendFields([]byte(`{"name":""`), &trace.Event{
		Desc: &trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: version}, PointerSize: 8, Payload: payload,
	})
	var shown struct {
		Fields map[string]any `json:"fields"`
	}
	d := json.NewDecoder(bytes.NewReader(append(line, '}')))
	d.UseNumber()
	if err := d.Decode(&shown); err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Fields {
		value := fmt.Sprint(shown.Fields[f.Name])
		switch {
		case f.Type == trace.UTF16String:
			value = `"` + value + `"`
		case value == "true":
			value = "1"
		}
		out = append(out, f.Name+" = "+value)
	}
	if out == nil {
		return ""
	}
	return strings.Join(out, ", ") + " "
}
