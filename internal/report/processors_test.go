package report

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestGCTimeWords states bounds as bounds, and nothing where nothing is known.
func TestGCTimeWords(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		server, background uint64 // ms, of 1,000
		paused             time.Duration
		missing            int
		want               string
	}{
		{290, 10, 500 * ms, 0, " The GC used at least 30.0 % of the program's processor time: 300 ms on threads of its own."},
		{0, 80, 50 * ms, 0, " The GC used at least 8.0 % of the program's processor time: 80.0 ms on threads of its own; at most 13.0 %, with its pauses."},
		{0, 80, 50 * ms, 1, " The GC used at least 8.0 % of the program's processor time: 80.0 ms on threads of its own."},
		{0, 0, 50 * ms, 0, " The GC used at most 5.0 % of the program's processor time, by its pauses."},
		{0, 0, 50 * ms, 1, ""},
	} {
		p := gc.Process{Missing: tt.missing}
		if says := gcTime(&p); says != "" {
			t.Errorf("not read: %q", says)
		}
		for i := range uint64(2) {
			at := time.Duration(i) * time.Second
			p.Processor.Read(at, &clr.ProcessThreadTime{RunNanoseconds: i * 1e9})
			p.Processor.Read(at, &clr.GCThreadTime{Threads: 2, ServerNanoseconds: i * tt.server * 1e6, BackgroundNanoseconds: i * tt.background * 1e6})
			p.Processor.Paused(at+ms, at+ms+tt.paused)
		}
		if says := gcTime(&p); says != tt.want {
			t.Errorf("%+v: %q", tt, says)
		}
	}
}
