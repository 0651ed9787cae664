package etl_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestDamages compares the events and the losses of damaged files with a golden file.
func TestDamages(t *testing.T) {
	type buffers = [][]byte
	join := func(b buffers) []byte { return slices.Concat(b...) }
	patch := func(at int, p ...byte) func(buffers) []byte {
		return func(b buffers) []byte {
			k := len(b) / 2
			b[k] = bytes.Clone(b[k])
			copy(b[k][at:], p)
			return join(b)
		}
	}
	damages := []struct {
		name string
		of   func(buffers) []byte
	}{
		{"none", join},
		{"a buffer is missing", func(b buffers) []byte { return join(slices.Delete(b, len(b)/2, len(b)/2+1)) }},
		{"the last buffer is missing", func(b buffers) []byte { return join(b[:len(b)-1]) }},
		{"the second buffer is missing", func(b buffers) []byte { return join(slices.Delete(b, 1, 2)) }},
		{"two buffers are swapped", func(b buffers) []byte {
			k := len(b) / 2
			b[k], b[k+1] = b[k+1], b[k]
			return join(b)
		}},
		{"a buffer is there twice", func(b buffers) []byte { return join(slices.Insert(b, len(b)/2, b[1])) }},
		{"a buffer is zeros", func(b buffers) []byte {
			b[len(b)/2] = make([]byte, len(b[len(b)/2]))
			return join(b)
		}},
		{"the last buffer is zeros", func(b buffers) []byte {
			b[len(b)-1] = make([]byte, len(b[len(b)-1]))
			return join(b)
		}},
		{"the last byte is missing", func(b buffers) []byte { return join(b)[:len(join(b))-1] }},
		{"the last buffer's head is cut", func(b buffers) []byte {
			b[len(b)-1] = b[len(b)-1][:40]
			return join(b)
		}},
		{"a buffer is cut", func(b buffers) []byte {
			b[len(b)/2] = b[len(b)/2][:len(b[len(b)/2])/2]
			return join(b)
		}},
		{"no header of a buffer", patch(0, make([]byte, 0x48)...)},
		{"no size of a buffer", patch(0, 0, 0, 0, 0)},
		{"another size of a buffer", patch(0, 0, 1, 0, 0)},
		{"a fill level that is too small", patch(4, 0x50, 0)},
		{"another processor", patch(0x28, 3, 0)},
		{"another session", patch(0x2a, 0x77, 0)},
		{"no time of writing", patch(0x10, make([]byte, 8)...)},
		{"nonsense after the header of a buffer", patch(0x48, bytes.Repeat([]byte{0xa5}, 64)...)},
		{"nonsense within a buffer", patch(0x248, bytes.Repeat([]byte{0xa5}, 64)...)},
		{"zeros within a buffer", patch(0x248, make([]byte, 64)...)},
	}
	var b strings.Builder
	fixtures := damageFixtures(t)
	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		f := fixtures[name]
		for _, damage := range damages {
			var parts buffers
			for i, at := range f.starts {
				parts = append(parts, f.data[at:append(f.starts, len(f.data))[i+1]])
			}
			data := damage.of(parts)
			r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{Stacks: true})
			n, sum, stacks := 0, uint32(0), 0
			for ev, err := range r.Events() {
				if err != nil {
					fmt.Fprintf(&b, "error: %v\n", err)
					break
				}
				n++
				stacks += ev.StackLen()
				sum = crc32.Update(sum, crc32.IEEETable, binary.LittleEndian.AppendUint64(nil, digest(ev)))
			}
			fmt.Fprintf(&b, "%s, %s: %d events, sum %08x, %d addresses, until %v\n", name, damage.name, n, sum, stacks, r.Info().Last)
			tracetest.ListLoss(&b, r.Loss())
		}
	}
	extent.Golden(t, "testdata/damages.txt", b.String())
}
