package clr

import (
	"slices"
	"testing"
)

func TestKindOf(t *testing.T) {
	for _, tt := range []struct {
		provider string
		id       uint32
		want     Kind
		name     string
	}{
		{RuntimeProvider, 1, KindGCStart, "GCStart"},
		{RuntimeProvider, 204, KindGCPerHeapHistory, "GCPerHeapHistory"},
		{PrivateProvider, 4, KindPrivateGCPerHeapHistory, "GCPerHeapHistory"},
		{PrivateProvider, 7, KindPrvGCMarkStackRoots, "PrvGCMarkStackRoots"},
		{RundownProvider, 144, KindMethodDCEndVerbose, "MethodDCEndVerbose"},
		{RuntimeProvider, 303, KindAllocationSampled, "AllocationSampled"},
		{EventPipeProvider, 1, KindProcessInfo, "ProcessInfo"},
		{GctrailProvider, 2, KindProcessThreadTime, "ProcessThreadTime"},
		{MonoProfilerProvider, 38, KindMonoProfilerGCEvent, "MonoProfilerGCEvent"},
		{RuntimeProvider, 0, KindUnknown, ""},
		{RuntimeProvider, 24, KindUnknown, ""},
		{RuntimeProvider, 1<<32 - 1, KindUnknown, ""},
		{"System.Runtime", 1, KindUnknown, ""},
		{StressProvider, 1, KindUnknown, ""},
	} {
		got := KindOf(tt.provider, tt.id)
		if got != tt.want || got.String() != tt.name {
			t.Errorf("%s %d: %d %q, want %d %q", tt.provider, tt.id, got, got, tt.want, tt.name)
		}
	}
	if name := numKinds.String(); name != "" {
		t.Errorf("the kind after the last is %q", name)
	}
}

func TestProviderByGUID(t *testing.T) {
	for g, want := range map[GUID]string{
		RuntimeGUID: "Microsoft-Windows-DotNETRuntime",
		PrivateGUID: "Microsoft-Windows-DotNETRuntimePrivate",
	} {
		if name, ok := ProviderByGUID(g); name != want || !ok {
			t.Errorf("%s: %q, %v", g, name, ok)
		}
	}
	if name, ok := ProviderByGUID(GUID{}); ok {
		t.Errorf("the zero GUID is %q", name)
	}
	if got, want := RuntimeGUID.String(), "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDynamicKindOf(t *testing.T) {
	for name, want := range map[string]DynamicKind{
		"CommittedUsage": DynamicCommittedUsage, "SizeAdaptationTuning": DynamicSizeAdaptationTuning,
		"SizeAdaptation": DynamicUnknown, "": DynamicUnknown,
	} {
		if got := DynamicKindOf(units(name)); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// TestKindFacts compares levels, keywords and versions with real traces.
func TestKindFacts(t *testing.T) {
	for _, tt := range []struct {
		kind     Kind
		provider string
		id       uint32
		level    uint8
		keywords uint64
		versions []uint32
	}{
		{KindGCStart, RuntimeProvider, 1, 4, 0x1, []uint32{0, 1, 2}},
		{KindGCAllocationTick, RuntimeProvider, 10, 5, 0x1, []uint32{0, 1, 2, 3, 4}},
		{KindGCCreateConcurrentThread, RuntimeProvider, 11, 4, 0x10001, []uint32{0, 1}},
		{KindGCDynamicEvent, RuntimeProvider, 39, 4, 0x3f00003, []uint32{0}},
		{KindModuleLoad, RuntimeProvider, 152, 4, 0x20000008, []uint32{2, 3}},
		{KindDCEndComplete, RundownProvider, 146, 4, 0x20038, []uint32{1}},
		{KindRuntimeInformationDCStart, RundownProvider, 187, 4, 0, []uint32{0}},
		{KindAllocationSampled, RuntimeProvider, 303, 4, 0x80000000000, []uint32{0}},
		{KindProcessInfo, EventPipeProvider, 1, 0, 0, []uint32{0, 1}},
		{KindProcessThreadTime, GctrailProvider, 2, 4, 0, []uint32{0, 1}},
		{KindUnknown, "", 0, 0, 0, nil},
		{Kind(NumKinds), "", 0, 0, 0, nil},
	} {
		k := tt.kind
		if k.Provider() != tt.provider || k.ID() != tt.id || k.Level() != tt.level || k.Keywords() != tt.keywords {
			t.Errorf("%v: %s %d, level %d, keywords %#x", k, k.Provider(), k.ID(), k.Level(), k.Keywords())
		}
		if got := slices.Collect(k.Versions()); !slices.Equal(got, tt.versions) {
			t.Errorf("%v: versions %v, want %v", k, got, tt.versions)
		}
	}
}
