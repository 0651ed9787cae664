package collect

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/trace"
)

// TestPlan checks how long a ring keeps events, and what of it a file has.
func TestPlan(t *testing.T) {
	limits := func(d time.Duration, size int64) Limits { return Limits{Time: d, Size: size} }
	before := 20 * time.Second
	slow, err := selection.ParseCondition("pause>200ms")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		stop Stop
		want Plan
	}{
		"nothing":            {Stop{}, Plan{Keep: limits(0, defaultKeep)}},
		"a time":             {Stop{Keep: limits(time.Minute, 0)}, Plan{Ring: true, Before: time.Minute, Keep: limits(time.Minute, defaultKeep)}},
		"a size":             {Stop{Keep: limits(0, 2e6)}, Plan{Ring: true, Keep: limits(0, 2e6)}},
		"a condition":        {Stop{Until: slow}, Plan{Until: slow, Ring: true, Before: time.Minute, After: 10 * time.Second, Keep: limits(2*time.Minute, defaultKeep)}},
		"condition and time": {Stop{Until: slow, Keep: limits(time.Hour, 0)}, Plan{Until: slow, Ring: true, Before: time.Hour, After: 10 * time.Second, Keep: limits(61*time.Minute, defaultKeep)}},
		"time before it":     {Stop{Until: slow, Before: &before}, Plan{Until: slow, Ring: true, Before: before, After: 10 * time.Second, Keep: limits(80*time.Second, defaultKeep)}},
	} {
		if got := tt.stop.Plan(); *got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, *got, tt.want)
		}
	}
}

func TestStoppingEventNames(t *testing.T) {
	for _, tt := range []struct {
		id   uint32
		name string
		is   bool
	}{
		{1, "GC/Start", true},
		{1, "GCStart", true},
		{1, "GC/Stop", false},
		{1, "gc/start", false},
		{1, "", true},
		{2, "GC/Stop", true},
		{2, "GCEnd_V1", true},
		{3, "GC/RestartEEStop", true},
		{9, "GC/SuspendEEStart", true},
		{10, "GC/AllocationTick", true},
	} {
		e := StoppingEvent{Provider: "Microsoft-Windows-DotNETRuntime", Name: tt.name}
		if is := e.wants(&trace.Descriptor{Provider: "Microsoft-Windows-DotNETRuntime", ID: tt.id}); is != tt.is {
			t.Errorf("event %d is %s: %t", tt.id, tt.name, is)
		}
	}
	e := StoppingEvent{Provider: "Own", Name: "Request/Stop"}
	if !e.wants(&trace.Descriptor{Provider: "Own", Name: "RequestStop"}) || e.wants(&trace.Descriptor{Provider: "Other", Name: "RequestStop"}) {
		t.Error("an event with its own description is not told by its name")
	}
}

func TestNumbered(t *testing.T) {
	for want, got := range map[string]string{
		"a.nettrace":    numbered("a.nettrace", 1, 1),
		"a-1.nettrace":  numbered("a.nettrace", 1, 3),
		"a-07.nettrace": numbered("a.nettrace", 7, 12),
		"a-2":           numbered("a", 2, 2),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
