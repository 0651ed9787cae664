package clr_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

func TestTracepointClass(t *testing.T) {
	for _, c := range []struct {
		kind    clr.Kind
		version uint32
		ptrSize int
		want    clr.TracepointClass
	}{
		{clr.KindGCRestartEEEnd, 0, 8, clr.TracepointClass{Name: "DotNETRuntime:GCRestartEEEnd"}},
		{clr.KindGCHeapStats, 2, 8, clr.TracepointClass{Name: "DotNETRuntime:GCHeapStats_V2", Packed: true}},
		{clr.KindBulkType, 0, 8, clr.TracepointClass{Name: "DotNETRuntime:BulkType", Packed: true}},
		{clr.KindPrvDestroyGCHandle, 0, 4, clr.TracepointClass{
			Name:   "DotNETRuntimePrivate:PrvDestroyGCHandle",
			Fields: []trace.Field{{Name: "HandleID", Type: trace.Uint32}, {Name: "ClrInstanceID", Type: trace.Uint16}},
		}},
		{clr.KindFinalizeObject, 0, 8, clr.TracepointClass{
			Name: "DotNETRuntime:FinalizeObject",
			Fields: []trace.Field{
				{Name: "TypeID", Type: trace.Uint64}, {Name: "ObjectID", Type: trace.Uint64}, {Name: "ClrInstanceID", Type: trace.Uint16},
			},
		}},
	} {
		if got, ok := c.kind.Tracepoint(c.version, c.ptrSize); !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v V%d: got %+v, %t, want %+v", c.kind, c.version, got, ok, c.want)
		}
	}
}

// TestTracepointsAreFound: an event with a tracepoint is found by its name.
func TestTracepointsAreFound(t *testing.T) {
	var without []clr.Kind
	for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
		for version := range k.Versions() {
			c, ok := k.Tracepoint(version, 8)
			if !ok {
				without = append(without, k)
				continue
			}
			d, known := clr.Tracepoint(c.Name)
			if !known || clr.KindOf(d.Provider, d.ID) != k || d.Version != version {
				t.Errorf("%v V%d: %s is %+v, %t", k, version, c.Name, d, known)
			}
		}
	}
	without = slices.DeleteFunc(without, func(k clr.Kind) bool {
		return k.Provider() == clr.GctrailProvider || k.Provider() == clr.MonoProfilerProvider
	})
	if want := []clr.Kind{clr.KindCCWRefCountChangeAnsi, clr.KindProcessInfo}; !slices.Equal(slices.Compact(without), want) {
		t.Errorf("without a tracepoint: %v, want %v", without, want)
	}
	if _, ok := clr.KindGCJoin.Tracepoint(0, 8); ok { // known from version 2 on
		t.Error("GCJoin has no version 0")
	}
}

// TestFields describes an event with a flag, which tracepoints have as a number.
func TestFields(t *testing.T) {
	want := []trace.Field{
		{Name: "Threads", Type: trace.Uint32},
		{Name: "RunNanoseconds", Type: trace.Uint64},
		{Name: "WaitNanoseconds", Type: trace.Uint64},
		{Name: "WaitUnknown", Type: trace.Boolean},
	}
	if got := clr.KindProcessThreadTime.Fields(1); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := clr.KindGCPerHeapHistory.Fields(3); got != nil {
		t.Errorf("of arrays: %+v", got)
	}
}
