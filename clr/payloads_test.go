package clr

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/trace"
)

// A realPayload is a payload of a real process, with the fields that another reader
// found. testdata/payloads.jsonl has one of each event in real traces: .NET Core 2.1 on
// 32-bit Windows, 3.0 on Windows, .NET 8 to 10 on Linux, NativeAOT of .NET 10 on Windows.
type realPayload struct {
	Provider    string
	ID, Version uint32
	Name        string
	PointerSize int `json:"pointer_size"`
	Payload     []byte
	Fields      json.RawMessage
}

func realPayloads(t testing.TB) []realPayload {
	f, err := os.Open("testdata/payloads.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []realPayload
	for d := json.NewDecoder(f); d.More(); {
		var p realPayload
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func (p *realPayload) event() *trace.Event {
	return &trace.Event{
		Desc:    &trace.Descriptor{Provider: p.Provider, ID: p.ID, Version: p.Version},
		Payload: p.Payload, PointerSize: p.PointerSize,
	}
}

func TestRealPayloads(t *testing.T) {
	var d Decoder
	structs := map[Kind]Event{}
	for _, p := range realPayloads(t) {
		ev := p.event()
		if got := d.Name(ev.Desc); got != p.Name {
			t.Errorf("%s %d: name %s, want %s", p.Provider, p.ID, got, p.Name)
		}
		b := d.AppendFields(nil, ev)
		got, want := members(t, b), members(t, append([]byte(`,"fields":`), p.Fields...))
		if !reflect.DeepEqual(got["fields"], want["fields"]) {
			t.Errorf("%s version %d: got %v\nwant %v", p.Name, p.Version, got["fields"], want["fields"])
		}
		if got["fields_short"] != nil || got["extra_bytes"] != nil {
			t.Errorf("%s version %d: %s", p.Name, p.Version, b)
		}
		k := KindOf(p.Provider, p.ID)
		if structs[k] == nil {
			structs[k] = k.New()
		}
		if err := structs[k].Decode(p.Version, p.Payload, p.PointerSize); err != nil {
			t.Error(err)
		}
		agree(t, want["fields"].(map[string]any), reflect.ValueOf(structs[k]).Elem())
	}
}

// TestAppendFields compares the whole output for some payloads.
func TestAppendFields(t *testing.T) {
	wants := map[string]string{
		"GCStart 4":          `,"fields":{"Count":1,"Depth":2,"Reason":1,"Type":0,"ClrInstanceID":2,"ClientSequenceNumber":0},"fields_text":{"Reason":"Induced","Type":"NonConcurrentGC"}`,
		"GCSuspendEEBegin 4": `,"fields":{"Reason":0,"Count":4294967295,"ClrInstanceID":2},"fields_text":{"Reason":"SuspendOther"}`,
		"GCRestartEEEnd 8":   `,"fields":{"ClrInstanceID":3}`,
		"GCJoin 8":           `,"fields":{"Heap":0,"JoinTime":0,"JoinType":1,"ClrInstanceID":0,"JoinID":2},"fields_text":{"JoinTime":"Start","JoinType":"Join","JoinID":"generation_determined"}`,
		"GCSettingsRundown 8": `,"fields":{"HardLimit":0,"LOHThreshold":85000,"PhysicalMemoryConfig":0,"Gen0MinBudgetConfig":0,` +
			`"Gen0MaxBudgetConfig":0,"HighMemPercentConfig":0,"BitSettings":21,"ClrInstanceID":0},"fields_text":{"BitSettings":["Concurrent","FrozenSegments","NoAffinitize"]}`,
	}
	for _, p := range realPayloads(t) {
		key := p.Name + " " + string(rune('0'+p.PointerSize))
		want, ok := wants[key]
		if !ok {
			continue
		}
		delete(wants, key)
		var d Decoder
		if got := string(d.AppendFields(nil, p.event())); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for key := range wants {
		t.Errorf("no payload of %s", key)
	}
}

func TestAppendFieldsDynamic(t *testing.T) {
	var d Decoder
	for _, p := range realPayloads(t) {
		if p.Name != "GCDynamicEvent" {
			continue
		}
		got := string(d.AppendFields(nil, p.event()))
		if !strings.Contains(got, `,"dynamic":{"Version":1,`) {
			t.Errorf("got %s", got)
		}
		if strings.Contains(got, `"Name":"CommittedUsage"`) && !strings.HasSuffix(got,
			`"dynamic":{"Version":1,"TotalCommittedInUse":56905728,"TotalCommittedInGlobalDecommit":0,`+
				`"TotalCommittedInFree":4096,"TotalCommittedInGlobalFree":0,"TotalBookkeepingCommitted":229376}`) {
			t.Errorf("got %s", got)
		}
	}
}
