package collect

import (
	"testing"

	"github.com/gctrail/gctrail/trace"
)

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
