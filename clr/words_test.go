package clr

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		value fmt.Stringer
		want  string
	}{
		{GCReasonAllocSmall, "AllocSmall"},
		{GCReason(17), "InducedAggressive"},
		{GCReason(99), "GCReason(99)"},
		{GCTypeForegroundGC, "ForegroundGC"},
		{SuspendReasonSuspendForGCPrep, "SuspendForGCPrep"},
		{JoinHeap(200), "ReverseJoinRestart"},
		{JoinHeap(3), "JoinHeap(3)"},
		{JoinStage(39), "merge_temp_fl"},
		{JoinStage(1<<32 - 1), "JoinStage(4294967295)"},
		{GlobalMechanisms(0), "0"},
		{GlobalMechanisms(0x46), "Compaction|Promotion|0x40"},
		{StartupFlags(0x800003), "CONCURRENT_GC|LOADER_OPTIMIZATION_SINGLE_DOMAIN|0x800000"},
		{CondemnReasons0(0b10_00_01_10), "initial_generation=2|final_per_heap_generation=1|alloc_budget_exceeded_generation=0|time_tuning_generation=2"},
		{CondemnReasons1(0x40000001), "induced_full_gc|joined_aggressive"},
		{CompactMechanisms(0), "0"},
		{CompactMechanismsTaken | CompactMechanismsNoGaps, "no_gaps"},
		{CompactMechanisms(1<<31 | 1<<20), "0x100000"},
		{TypeFlagsArray | 2<<8, "array_rank=2|Array"},
		{RuntimeSkuCoreClr, "CoreClr"},
	} {
		if got := tt.value.String(); got != tt.want {
			t.Errorf("%T(%d): got %q, want %q", tt.value, tt.value, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	if got := GlobalMechanisms(0).Names(); got != nil {
		t.Errorf("got %q", got)
	}
	want := []string{"Concurrent", "Demotion", "0x80"}
	if got := GlobalMechanisms(0x89).Names(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBitfields(t *testing.T) {
	v := CondemnReasons0(0b11_10_01_00)
	got := [...]int{v.InitialGeneration(), v.FinalPerHeapGeneration(), v.AllocBudgetExceededGeneration(), v.TimeTuningGeneration()}
	if want := [...]int{0, 1, 2, 3}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if rank := (TypeFlagsArray | 3<<8).ArrayRank(); rank != 3 {
		t.Errorf("rank %d", rank)
	}
}

// TestHandleKindAsText checks that JSON has the name of a kind, and not its number.
func TestHandleKindAsText(t *testing.T) {
	got, err := json.Marshal([]HandleKind{HandleKindStrong, 99})
	if want := `["Strong","HandleKind(99)"]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestTimeNames(t *testing.T) {
	for n, last := range map[int]string{5: "MarkLongWeak", 7: "Sweep", 8: "Compact"} {
		if names := TimeNames(n); len(names) != n || names[n-1] != last {
			t.Errorf("%d: %q", n, names)
		}
	}
	if names := TimeNames(6); names != nil {
		t.Errorf("6: %q", names)
	}
}
