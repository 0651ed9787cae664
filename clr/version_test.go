package clr

import "testing"

func TestVersionOf(t *testing.T) {
	history := GCGlobalHeapHistory{Count: 8, Values: make([]GCGlobalHeapHistoryValue, 8)}
	for _, test := range []struct {
		name    string
		kind    Kind
		version uint32
		payload []byte
		want    uint32
	}{
		{"told", KindGCStart, 1, make([]byte, 26), 1},
		{"GCStart V0", KindGCStart, 0, make([]byte, 8), 0},
		{"GCStart V1", KindGCStart, 0, make([]byte, 18), 1},
		{"GCStart V2", KindGCStart, 0, make([]byte, 26), 2},
		{"GCEnd V0", KindGCEnd, 0, make([]byte, 6), 0},
		{"GCEnd V1", KindGCEnd, 0, make([]byte, 10), 1},
		{"padded GCHeapStats V0", KindGCHeapStats, 0, make([]byte, 96), 0},
		{"GCHeapStats V2", KindGCHeapStats, 0, make([]byte, 110), 2},
		{"GCAllocationTick V4", KindGCAllocationTick, 0, make([]byte, 4+4+2+8+8+2+4+8+8), 4},
		{"GCAllocationTick V3", KindGCAllocationTick, 0, make([]byte, 4+4+2+8+8+2+4+8), 3},
		{"GCGlobalHeapHistory V3", KindGCGlobalHeapHistory, 0, history.Append(nil, 3, 8), 3},
		{"GCGlobalHeapHistory V4", KindGCGlobalHeapHistory, 0, history.Append(nil, 4, 8), 4},
		{"unknown", KindUnknown, 0, make([]byte, 26), 0},
	} {
		if got := VersionOf(test.kind, test.version, test.payload, 8); got != test.want {
			t.Errorf("%s: version %d, want %d", test.name, got, test.want)
		}
	}
}
