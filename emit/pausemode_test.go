package emit_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

// TestPauseMode checks that a result without a mode has the mode of its process, as the
// runtime's collections do, and that a result with a mode keeps it.
func TestPauseMode(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags clr.StartupFlags
		plan  emit.Plan
		mode  clr.PauseMode
		want  clr.PauseMode
	}{
		{"without background GC", 0, emit.Plan{}, 0, clr.PauseModeBatch},
		{"with background GC", clr.StartupFlagsConcurrentGC, emit.Plan{}, 0, clr.PauseModeInteractive},
		{"set by the program", clr.StartupFlagsConcurrentGC, emit.Plan{}, clr.PauseModeSustainedLowLatency, clr.PauseModeSustainedLowLatency},
		{"in the background", 0, emit.Plan{Generation: 2, Background: true}, 0, clr.PauseModeInteractive},
	} {
		p := newProvider(t, emit.ProviderOptions{Process: emit.Process{Flags: tt.flags}})
		var out bytes.Buffer
		s := start(t, p, &out, emit.SessionOptions{NoRundown: true})
		c, err := p.NewCollector(emit.CollectorOptions{}).Begin(tt.plan)
		check(t, err)
		steps := []func() error{c.Suspended}
		if tt.plan.Background {
			steps = append(steps, c.Resume, c.Resumed, c.Suspend, c.Suspended, c.Resume, c.Resumed)
		}
		for _, step := range steps {
			check(t, step())
		}
		check(t, c.End(&emit.Result{Heaps: make([]emit.HeapResult, 1), PauseMode: tt.mode}))
		check(t, s.Close())
		histories := 0
		for _, ev := range readAll(t, &out) {
			if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) != clr.KindGCGlobalHeapHistory {
				continue
			}
			histories++
			var v clr.GCGlobalHeapHistory
			if err := v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize); err != nil || v.PauseMode != tt.want {
				t.Errorf("%s: %v, %v, want %v", tt.name, v.PauseMode, err, tt.want)
			}
		}
		if histories != 1 {
			t.Errorf("%s: %d histories", tt.name, histories)
		}
	}
}
