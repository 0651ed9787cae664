package ctf_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestDamages compares the events and the losses of real traces whose largest stream is damaged
// with a golden file.
func TestDamages(t *testing.T) {
	patch := func(at int, p ...byte) func([]byte) []byte { // in eighths
		return func(b []byte) []byte {
			b = bytes.Clone(b)
			copy(b[len(b)*at/8:], p)
			return b
		}
	}
	page := func(b []byte) int { return len(b) / 8192 * 4096 } // in the middle
	nonsense := bytes.Repeat([]byte{0xa5}, 4096)
	damages := []struct {
		name string
		of   func([]byte) []byte
	}{
		{"none", func(b []byte) []byte { return b }},
		{"all is missing", func([]byte) []byte { return nil }},
		{"the last byte is missing", func(b []byte) []byte { return b[:len(b)-1] }},
		{"the last quarter is missing", func(b []byte) []byte { return b[:len(b)*3/4] }},
		{"the first page is missing", func(b []byte) []byte { return b[min(4096, len(b)):] }},
		{"a page is missing", func(b []byte) []byte { return slices.Concat(b[:page(b)], b[min(page(b)+4096, len(b)):]) }},
		{"a page is there twice", func(b []byte) []byte { return slices.Concat(b[:min(page(b)+4096, len(b))], b[page(b):]) }},
		{"a byte of nonsense", patch(3, 0xa5)},
		{"a little nonsense", patch(3, nonsense[:16]...)},
		{"much nonsense", patch(5, nonsense...)},
		{"zeros", patch(5, make([]byte, 300)...)},
		{"a page of zeros", func(b []byte) []byte {
			b = bytes.Clone(b)
			clear(b[page(b):min(page(b)+4096, len(b))])
			return b
		}},
		{"no head", func(b []byte) []byte { return append(make([]byte, 40), b[min(40, len(b)):]...) }},
		{"zeros behind it", func(b []byte) []byte { return append(bytes.Clone(b), make([]byte, 100)...) }},
	}
	var b strings.Builder
	traces := realTraces(t)
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		files := traces[name]
		largest := slices.MaxFunc(streams(files), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(files[a].Data), len(files[b].Data)), cmp.Compare(a, b))
		})
		for _, damage := range damages {
			damaged := with(files, largest, damage.of(files[largest].Data))
			whole := outcome(damaged)
			fmt.Fprintf(&b, "%s, %s: %s", name, damage.name, whole)
			without := fstest.MapFS{} // an index says where packets are
			for name, f := range damaged {
				if path.Ext(name) != ".idx" {
					without[name] = f
				}
			}
			if got := outcome(without); got != whole {
				fmt.Fprintf(&b, "%s, %s, without indexes: %s", name, damage.name, got)
			}
		}
	}
	extent.Golden(t, "testdata/damages.golden", b.String())
}

// outcome returns the number of a trace's events with a sum over them, and its loss.
func outcome(files fstest.MapFS) string {
	r, err := ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint})
	if err != nil {
		return fmt.Sprintln(err)
	}
	var b strings.Builder
	n, sum := 0, uint32(0)
	var all []byte
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Fprintf(&b, "%v, ", err)
			break
		}
		n++
		all = append(append(all[:0], ev.Desc.Name...), byte(ev.Desc.ID), byte(ev.Desc.Version))
		for _, v := range [...]uint64{uint64(ev.Ticks), ev.PID, ev.TID, uint64(ev.CPU)} {
			all = binary.LittleEndian.AppendUint64(all, v)
		}
		if ev.Late {
			all = append(all, 1)
		}
		sum = crc32.Update(sum, crc32.IEEETable, append(all, ev.Payload...))
	}
	info := r.Info()
	fmt.Fprintf(&b, "%d events, sum %08x, from %v until %v\n", n, sum, info.Start.UTC(), info.Last)
	loss := *r.Loss()
	fmt.Fprintf(&b, "%d places damaged\n", loss.Damaged)
	loss.Damage = loss.Damage[:min(2, len(loss.Damage))]
	tracetest.ListLoss(&b, &loss)
	return b.String()
}
