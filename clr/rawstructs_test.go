package clr

import (
	"strings"
	"testing"
)

// TestRawStructs writes a payload under the manifest's names and under the names of the
// runtime's C structures.
func TestRawStructs(t *testing.T) {
	const (
		historyManifest = `{"SizeBefore":1,"FreeListBefore":2,"FreeObjBefore":3,"SizeAfter":4,"FreeListAfter":5,"FreeObjAfter":6,` +
			`"In":7,"PinnedSurv":8,"NonePinnedSurv":9,"NewAllocation":10}`
		historyRaw = `{"SizeBefore":1,"FreeListSpaceBefore":2,"FreeObjSpaceBefore":3,"SizeAfter":4,"FreeListSpaceAfter":5,"FreeObjSpaceAfter":6,` +
			`"In":7,"PinnedSurv":8,"NonePinnedSurv":9,"NewAllocation":10}`
		compact32 = `{"TimePlan":1,"TimeCompact":2,"TimeRelocate":3,"TotalRefs":4,"ZeroRefs":5}`
	)
	for _, tt := range []struct {
		kind          Kind
		version       uint32
		ptrSize       int
		before, of    []int // sizes of the fields up to Count, and of an element's members
		manifest, raw string
	}{
		{
			KindGCPerHeapHistory, 3, 4,
			[]int{2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
			[]int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
			historyManifest, historyRaw,
		},
		{
			KindGCPerHeapHistory, 3, 8,
			[]int{2, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 8, 4},
			[]int{8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
			historyManifest, historyRaw,
		},
		{
			KindGCFitBucketInfo, 0, 4,
			[]int{2, 2, 8, 2},
			[]int{2, 2, 4, 4},
			`{"Index":1,"Count":3,"Size":4}`, `{"Index":1,"_pad":2,"Count":3,"Size":4}`,
		},
		{
			KindGCLOHCompact, 0, 8,
			[]int{2, 2},
			[]int{4, 4, 4, 4, 8, 8},
			`{"TimePlan":1,"TimeCompact":2,"TimeRelocate":3,"TotalRefs":5,"ZeroRefs":6}`,
			`{"TimePlan":1,"TimeCompact":2,"TimeRelocate":3,"_pad":4,"TotalRefs":5,"ZeroRefs":6}`,
		},
		{KindGCLOHCompact, 0, 4, []int{2, 2}, []int{4, 4, 4, 4, 4}, compact32, compact32}, // without padding
	} {
		last := len(tt.before) - 1
		payload := numbers(numbers(nil, tt.before[:last]...), tt.before[last])
		payload = numbers(payload, tt.of...)
		var d Decoder
		ev := event(tt.kind, tt.version, payload, tt.ptrSize)
		for _, want := range []string{tt.manifest, tt.raw} {
			got := string(d.AppendFields(nil, ev))
			if !strings.Contains(got, `"Values":[`+want+`]}`) || strings.Contains(got, "fields_short") || strings.Contains(got, "extra_bytes") {
				t.Errorf("%v, pointers of %d: got %s\nwant %s", tt.kind, tt.ptrSize, got, want)
			}
			ev.Desc.RawStructs = true
		}
	}
}

// numbers appends 1, 2, 3 and so on as integers of these sizes.
func numbers(b []byte, sizes ...int) []byte {
	for i, size := range sizes {
		b = append(append(b, byte(i+1)), make([]byte, size-1)...)
	}
	return b
}

// TestRawStructsOfEveryLayout: every layout is written in the form of the C structures;
// truncation at any byte loses only the missing part.
func TestRawStructsOfEveryLayout(t *testing.T) {
	eachLayout(t, func(t *testing.T, k Kind, l *layout, e *encoder) {
		e = newEncoder(uint64(k), e.ptrSize)
		e.raw = true
		e.object(l.fields)
		var d Decoder
		ev := event(k, l.version, e.payload, e.ptrSize)
		ev.Desc.RawStructs = true
		got := string(d.AppendFields(nil, ev))
		if want := `,"fields":` + e.want.String(); !strings.HasPrefix(got, want) {
			t.Fatalf("got %s\nwant %s", got, want)
		}
		for n := range e.payload {
			ev.Payload = e.payload[:n:n]
			members(t, d.AppendFields(nil, ev))
		}
	})
}
