package clr

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

// TestAppendIsTheInverseOfDecode: Append restores the payload that Decode read, for every
// event, in every version and with both sizes of pointers.
func TestAppendIsTheInverseOfDecode(t *testing.T) {
	eachLayout(t, func(t *testing.T, k Kind, l *layout, _ *encoder) {
		for seed := range uint64(20) {
			for _, ptrSize := range []int{4, 8} {
				e := newEncoder(seed, ptrSize)
				e.object(l.fields)
				first, again := k.New(), k.New()
				if first.EventKind() != k {
					t.Fatalf("New of %d gives %d", k, first.EventKind())
				}
				if err := first.Decode(l.version, e.payload, ptrSize); err != nil {
					t.Fatal(err)
				}
				got := first.Append([]byte("before"), l.version, ptrSize)
				if want := append([]byte("before"), e.payload...); !bytes.Equal(got, want) {
					t.Fatalf("%+v\ngot  %x\nwant %x", first, got, want)
				}
				if err := again.Decode(l.version, got[len("before"):], ptrSize); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(first, again) {
					t.Fatalf("got  %+v\nwant %+v", again, first)
				}
			}
		}
	})
}

func TestAppendDynamicEvents(t *testing.T) {
	for k := range dynamicSchemas {
		if DynamicKind(k) == DynamicUnknown {
			continue
		}
		e := newEncoder(uint64(k), 8)
		e.object(dynamicSchemas[k].layouts[0].fields)
		x := newDynamic[k]()
		if err := x.Decode(e.payload); err != nil {
			t.Fatal(err)
		}
		if got := x.Append(nil); !bytes.Equal(got, e.payload) {
			t.Errorf("%s: got %x, want %x", dynamicSchemas[k].name, got, e.payload)
		}
	}
}

// TestAppendCounts: Append writes the number of elements, whatever the count field
// contains.
func TestAppendCounts(t *testing.T) {
	stacks := ClrStackWalk{FrameCount: 9, Stack: []uint64{1, 2}}
	var got ClrStackWalk
	if err := got.Decode(0, stacks.Append(nil, 0, 4), 4); err != nil || got.FrameCount != 2 || len(got.Stack) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	il := MethodILToNativeMap{ILOffsets: []uint32{1, 2, 3}, NativeOffsets: []uint32{4, 5}, ILVersionID: 6}
	var gotMap MethodILToNativeMap
	if err := gotMap.Decode(1, il.Append(nil, 1, 8), 8); err != nil || gotMap.CountOfMapEntries != 2 || gotMap.ILVersionID != 6 {
		t.Errorf("got %+v, %v", gotMap, err)
	}
	long := GCFitBucketInfo{Values: make([]GCFitBucketInfoValue, math.MaxUint16+1)}
	var gotInfo GCFitBucketInfo
	if err := gotInfo.Decode(0, long.Append(nil, 0, 8), 8); err != nil || len(gotInfo.Values) != math.MaxUint16 {
		t.Errorf("got %d, %v", len(gotInfo.Values), err)
	}
}

func TestAppendStrings(t *testing.T) {
	tick := GCAllocationTick{TypeName: append(NewUTF16("a中\U0001F600"), 0, 0, 'b', 0), ObjectSize: 7}
	var got GCAllocationTick
	if err := got.Decode(4, tick.Append(nil, 4, 8), 8); err != nil || got.TypeName.String() != "a中\U0001F600" || got.ObjectSize != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
	ccw := CCWRefCountChangeAnsi{ClassName: ANSI("a\x00b"), ClrInstanceID: 7}
	var gotCCW CCWRefCountChangeAnsi
	if err := gotCCW.Decode(0, ccw.Append(nil, 0, 8), 8); err != nil || gotCCW.ClassName.String() != "a" || gotCCW.ClrInstanceID != 7 {
		t.Errorf("got %+v, %v", gotCCW, err)
	}
	if got := NewUTF16("\xff").String(); got != "\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	tick := GCAllocationTick{TypeName: NewUTF16("System.String")}
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf = tick.Append(buf[:0], 4, 8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
