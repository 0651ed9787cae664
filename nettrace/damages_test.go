package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// written returns the events of a trace as the Writer writes them in a version of the format.
func written(t *testing.T, data []byte, version int) []byte {
	t.Helper()
	in := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Stacks: true})
	var out bytes.Buffer
	var w *nettrace.Writer
	for ev, err := range in.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			info := in.Info()
			if w, err = nettrace.NewWriter(&out, nettrace.WriterOptions{Version: version, Start: info.Start, PID: info.PID, CPUs: info.CPUs}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(ev.TID, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDamages compares the events and the losses of damaged traces with a golden file. Blocks
// that are decoded ahead give the same.
func TestDamages(t *testing.T) {
	gunzip := func(name string) []byte { return tracetest.Gunzip(t, "../testdata/"+name+".gz") }
	stacks := gunzip("net10-wks-stacks.nettrace")[:400_000]
	traces := []struct {
		name string
		data []byte
	}{
		{"V3", gunzip("net21-win-x86-objver3.netperf")[:300_000]},
		{"V4", gunzip("net10-wks-web-collect.nettrace")},
		{"V4 with stacks", stacks},
		{"V4 rewritten", written(t, stacks, 4)},
		{"V6 rewritten", written(t, stacks, 6)},
	}
	patch := func(at int, p ...byte) func([]byte) []byte {
		return func(b []byte) []byte {
			b = bytes.Clone(b)
			copy(b[len(b)*at/8:], p)
			return b
		}
	}
	eighth := func(b []byte) int { return len(b) / 32 * 4 } // blocks of V4 begin at multiples of 4
	nonsense := bytes.Repeat([]byte{0xa5}, 4096)
	damages := []struct {
		name string
		of   func([]byte) []byte
	}{
		{"none", func(b []byte) []byte { return b }},
		{"the last byte is missing", func(b []byte) []byte { return b[:len(b)-1] }},
		{"the last eighth is missing", func(b []byte) []byte { return b[:len(b)*7/8] }},
		{"a part is missing", func(b []byte) []byte { return slices.Concat(b[:3*eighth(b)], b[5*eighth(b):]) }},
		{"a part is there twice", func(b []byte) []byte { return slices.Concat(b[:5*eighth(b)], b[3*eighth(b):]) }},
		{"a byte of nonsense", patch(4, 0xa5)},
		{"a little nonsense", patch(4, nonsense[:16]...)},
		{"much nonsense", patch(4, nonsense...)},
		{"nonsense late", patch(7, nonsense[:256]...)},
		{"another trace behind it", func(b []byte) []byte { return slices.Concat(b, b) }},
		{"zeros behind it", func(b []byte) []byte { return slices.Concat(b, make([]byte, 4096)) }},
		{"a block begins with the mark of the end", func(b []byte) []byte {
			tags := []byte{5, 5, 1, 2} // V4
			if bytes.Contains(b[:64], []byte{4, 4, 1, 4}) {
				tags = []byte{4, 4, 1, 1} // V3
			}
			b = bytes.Clone(b)
			if i := bytes.Index(b[len(b)/2:], tags); i >= 0 {
				b[len(b)/2+i] = 1
			}
			return b
		}},
		{"zeros early", patch(1, make([]byte, 256)...)},
		{"zeros", patch(4, make([]byte, 4096)...)},
	}
	var b strings.Builder
	for _, of := range traces {
		for _, damage := range damages {
			data := damage.of(of.data)
			want := outcome(data, nettrace.Options{Stacks: true})
			fmt.Fprintf(&b, "%s, %s: %s", of.name, damage.name, want)
			if got := outcome(data, nettrace.Options{Stacks: true, Ahead: true}); got != want {
				t.Errorf("%s, %s: ahead %s, expected %s", of.name, damage.name, got, want)
			}
		}
	}
	extent.Golden(t, "testdata/damages.golden", b.String())
}

// outcome returns the number of a trace's events with a sum over them, and its loss.
func outcome(data []byte, o nettrace.Options) string {
	var b, events strings.Builder
	r := nettrace.NewReader(bytes.NewReader(data), o)
	n, sum := 0, crc32.NewIEEE()
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Fprintf(&b, "%v, ", err)
			break
		}
		n++
		events.Reset()
		listEvent(&events, ev)
		_, _ = sum.Write([]byte(events.String()))
	}
	counts := uint64(0)
	for _, c := range r.Counts() {
		counts += c
	}
	whole, end := r.Whole()
	fmt.Fprintf(&b, "%d events of %d, sum %08x, until %v, %d of %d bytes whole, end %x\n",
		n, counts, binary.BigEndian.Uint32(sum.Sum(nil)), r.Info().Last, whole, len(data), end)
	tracetest.ListLoss(&b, r.Loss())
	return b.String()
}
