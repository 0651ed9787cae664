package emit_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/trace"
)

// TestCTFTellsWhatWasDropped: readers find the events lost that a session on an LTTng
// trace dropped.
func TestCTFTellsWhatWasDropped(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	path := filepath.Join(t.TempDir(), "trace")
	s, err := p.CreateCTF(path, emit.SessionOptions{BufferBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	threads := []*emit.Thread{p.NewThread(), p.NewThread()} // there is room for the events of one shard
	raised := uint64(0)
	for ; s.Dropped() == 0; raised += 2 {
		for _, thread := range threads {
			thread.Raise(&clr.GCTriggered{})
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	source := openTrace(t, path)
	read := uint64(0)
	for ev, err := range source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Desc.Name == "GCTriggered" {
			read++
		}
	}
	if lost := source.Loss().Events; lost != s.Dropped() || read != raised-lost {
		t.Errorf("%d of %d events, %d lost, %d dropped", read, raised, lost, s.Dropped())
	}
}

// The process that raised the events is known by its name.
func TestCTFProcess(t *testing.T) {
	for commandLine, want := range map[string]string{
		`/usr/bin/web -x /etc/web.conf`:      "web",
		`"C:\Program Files\My Shop.exe" -x`:  "My Shop",
		`server`:                             "server",
		`/opt/a-rather-long-name-of-a-thing`: "a-rather-long-n",
	} {
		p := newProvider(t, emit.ProviderOptions{Process: emit.Process{PID: 12, CommandLine: commandLine}})
		path := filepath.Join(t.TempDir(), "trace")
		s, err := p.CreateCTF(path, emit.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		events, info := readFile(t, path)
		if len(events) != 1 || events[0].Desc.Name != "RuntimeInformationDCStart" || events[0].PID != 12 {
			t.Errorf("%+v", events)
		}
		if got := info.Processes[12].Name; got != want {
			t.Errorf("%s is called %q, want %q", commandLine, got, want)
		}
	}
}

// TestCTFCustomEvents: custom events come back with their fields; events that cannot be
// written are left out of such sessions, and do no harm.
func TestCTFCustomEvents(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	path := filepath.Join(t.TempDir(), "x.trace.zip")
	s, err := p.CreateCTF(path, emit.SessionOptions{NoRundown: true, Providers: []emit.Wanted{{Provider: "Shop", Keywords: 1, Level: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"customer", "größe", "customer"} {
		order, err := p.Define(trace.Descriptor{Provider: "Shop", ID: 1, Name: "Order", Fields: []trace.Field{
			{Name: name, Type: trace.UTF16String},
			{Name: "items", Type: trace.Array, Elem: &trace.Field{Type: trace.Uint32}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if order.Enabled() != (name == "customer") {
			t.Errorf("with a field %s: enabled %t", name, order.Enabled())
		}
		if err := order.Raise("Müller", []uint32{7, 8}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	events, _ := readFile(t, path)
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	var decoder clr.Decoder
	for _, ev := range events {
		if got, want := string(decoder.AppendFields(nil, ev)), `,"fields":{"customer":"Müller","items":[7,8]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestCreateCTFRefuses: places where no trace can be written are refused, and existing
// files are left alone.
func TestCreateCTFRefuses(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	dir := t.TempDir()
	note := filepath.Join(dir, "note")
	if err := os.WriteFile(note, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.CreateCTF(dir, emit.SessionOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder with a file in it: %v", err)
	}
	for _, path := range []string{note, filepath.Join(note, "x"), filepath.Join(note, "x.trace.zip")} {
		if _, err := p.CreateCTF(path, emit.SessionOptions{}); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
	if b, err := os.ReadFile(note); err != nil || string(b) != "keep" {
		t.Errorf("%q, %v", b, err)
	}
	if p.Enabled(clr.KindGCStart) {
		t.Error("a session that failed wants events")
	}
}
