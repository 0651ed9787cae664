package clr

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/trace"
)

// TestOthers reads every line of the table: none has a Kind, versions come in order, and
// types are known.
func TestOthers(t *testing.T) {
	valid := regexp.MustCompile(`^\d+ \d+ [A-Z]\w+( \w+:\w+)*$`)
	lines := 0
	for line := range strings.Lines(othersText) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "provider ") {
			continue
		}
		lines++
		if !valid.MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	count := 0
	for k, versions := range others() {
		if KindOf(k.provider, k.id) != KindUnknown {
			t.Errorf("%v has a Kind", k)
		}
		for i, o := range versions {
			count++
			if i > 0 && o.version <= versions[i-1].version {
				t.Errorf("%v: version %d follows %d", k, o.version, versions[i-1].version)
			}
			for _, f := range o.layout.fields {
				if f.code == codePad {
					t.Errorf("%v %s: %s has no type", k, o.name, f.key)
				}
			}
		}
	}
	if count != lines || len(others()) < 200 {
		t.Errorf("%d events in %d versions, of %d lines", len(others()), count, lines)
	}
}

// TestOtherEvents decodes events that have no Kind: with the fields of their version, of the
// newest one before theirs, and with the trace's own, which come first.
func TestOtherEvents(t *testing.T) {
	const monoProvider = "Microsoft-DotNETRuntimeMonoProfiler"
	own := []trace.Field{{Name: "Flags", Type: trace.Uint8}}
	duration := make([]byte, 8)
	le.PutUint64(duration, math.Float64bits(1500))
	for _, tt := range []struct {
		desc    trace.Descriptor
		payload []byte
		name    string
		want    string
	}{
		{trace.Descriptor{Provider: RuntimeProvider, ID: 91, Version: 1}, append([]byte{0, 7, 0}, duration...), "ContentionStop", `,"fields":{"ContentionFlags":0,"ClrInstanceID":7,"DurationNs":1500}`},
		{trace.Descriptor{Provider: RuntimeProvider, ID: 91}, []byte{1, 7, 0}, "ContentionStop", `,"fields":{"ContentionFlags":1,"ClrInstanceID":7}`},
		{trace.Descriptor{Provider: RuntimeProvider, ID: 91, Version: 9}, append([]byte{0, 7, 0}, append(duration, 1, 2)...), "ContentionStop", `,"fields":{"ContentionFlags":0,"ClrInstanceID":7,"DurationNs":1500},"extra_bytes":2`},
		{trace.Descriptor{Provider: RuntimeProvider, ID: 91, Version: 1}, []byte{0, 7}, "ContentionStop", `,"fields":{"ContentionFlags":0},"fields_short":true`},
		{trace.Descriptor{Provider: RuntimeProvider, ID: 91, Version: 1, Name: "Named", Fields: own}, []byte{3}, "ContentionStop", `,"fields":{"Flags":3}`},
		{trace.Descriptor{Provider: RuntimeProvider, ID: 9999}, nil, "EventID(9999)", `,"fields":{}`},
		{trace.Descriptor{Provider: monoProvider, ID: 43}, []byte{10, 0, 0, 0, 1}, "MonoProfilerGCHandleDeleted", `,"fields":{"HandleID":10,"HandleType":1}`},
		{trace.Descriptor{Provider: monoProvider, ID: 63}, append(make([]byte, 24), "A\x00\x00\x00"...), "MonoProfilerGCHeapDumpVTableClassReference", `,"fields":{"VTableID":0,"ClassID":0,"ModuleID":0,"ClassName":"A"}`},
		{trace.Descriptor{Provider: "Microsoft.Android.Runtime", ID: 8}, nil, "GCBridgeStop", `,"fields":{}`},
		{trace.Descriptor{Provider: "Mine", ID: 91, Version: 1}, []byte{0}, "EventID(91)", `,"payload":"AA=="`},
	} {
		var d Decoder
		got := string(d.AppendFields(nil, &trace.Event{Desc: &tt.desc, Payload: tt.payload, PointerSize: 8}))
		if got != tt.want || d.Name(&tt.desc) != tt.name {
			t.Errorf("%s %d: %s %s, want %s", tt.desc.Provider, tt.desc.ID, d.Name(&tt.desc), got, tt.want)
		}
	}
}
