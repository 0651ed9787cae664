package heap

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIndex: objects are found at their addresses, and nothing is found elsewhere, in
// whichever order regions come and however their objects lie.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var n nodes
		at := map[uint64]uint32{}
		for range 1 + r.IntN(6) {
			address := r.Uint64N(1 << 12)
			if r.IntN(4) == 0 {
				address += math.MaxUint64 - 1<<13
			}
			step := uint64(1) << r.IntN(8)
			for range r.IntN(40) {
				if _, known := at[address]; !known {
					at[address] = uint32(n.len())
				}
				n.add(address, r.Uint64(), 0)
				next := address + step*(1+r.Uint64N(4))
				if r.IntN(8) == 0 {
					next += 1 << 40
				}
				if next < address {
					break
				}
				address = next
			}
		}
		if n.len() == 0 {
			continue
		}
		x := newIndex(&n)
		if x.duplicates != n.len()-len(at) {
			t.Fatalf("%d duplicates, want %d", x.duplicates, n.len()-len(at))
		}
		for address, want := range at {
			if got := x.find(address); got != want || n.addressOf(want) != address {
				t.Fatalf("%#x is object %d, found %d", address, want, got)
			}
			for _, other := range []uint64{address - 1, address + 1, address + 4, address ^ 1<<35} {
				want, known := at[other]
				if !known {
					want = none
				}
				if got := x.find(other); got != want {
					t.Fatalf("%#x is object %d, found %d", other, want, got)
				}
			}
		}
	}
}

// TestRegions: regions that surround another's are divided, and not sorted.
func TestRegions(t *testing.T) {
	var n nodes
	for _, from := range []uint64{0x1000, 0x9000, 0x5000, 0x3000, 0x7000} {
		for i := range uint64(10) {
			n.add(from+i*24, 24, 0)
		}
	}
	if x := newIndex(&n); x.sorted != nil || len(x.pieces) != 5 {
		t.Errorf("%d pieces, %d sorted", len(x.pieces), len(x.sorted))
	}
}

func TestLargeObjects(t *testing.T) {
	var n nodes
	sizes := []uint64{24, math.MaxUint32 - 1, math.MaxUint32, 1 << 40}
	for i, size := range sizes {
		n.add(uint64(i)<<44, size, 0)
	}
	for i, size := range sizes {
		if got := n.sizeOf(uint32(i)); got != size {
			t.Errorf("%d bytes, want %d", got, size)
		}
	}
}

// TestManyTypes: types need bounded memory, and objects have one nevertheless.
func TestManyTypes(t *testing.T) {
	const most = 1 << 20
	var all types
	for id := range uint64(most + 1000) {
		all.index(16 * (id + 1))
	}
	if len(all.all) != most+1 || all.index(16) != 0 || all.index(1<<40) != most || all.all[most].ID != 0 {
		t.Errorf("%d types", len(all.all))
	}
}

// TestTypeOf: the types of objects are the same before and after there are more than 65,536.
func TestTypeOf(t *testing.T) {
	var n nodes
	const objects = math.MaxUint16 + 10
	for i := range uint32(objects) {
		n.add(uint64(i)*24, 24, i)
		if got := n.typeOf(i); got != i || n.typeOf(i/2) != i/2 {
			t.Fatalf("type %d, want %d", got, i)
		}
	}
	n.add(objects*24, 24, 3)
	for i := range uint32(objects) {
		if got := n.typeOf(i); got != i {
			t.Fatalf("type %d, want %d", got, i)
		}
	}
	if n.typeOf(objects) != 3 || n.typ.n != 0 {
		t.Errorf("type %d, want 3; %d narrow types left", n.typeOf(objects), n.typ.n)
	}
}
