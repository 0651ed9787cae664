package ctf

import (
	"bytes"
	"testing"
)

// TestQuickPayload: a payload takes the same space and has the same bytes with and without its
// plan, wherever the packet ends.
func TestQuickPayload(t *testing.T) {
	copied, passed := node{op: opBytes, mask: 7, size: 24, width: 1}, node{op: opBytes, mask: 7, size: 16}
	text := node{op: opString, mask: 7, size: 8}
	length := func(size int) node { return node{op: opInt, mask: 7, size: size, slot: 1} }
	sequence := node{op: opCopy, mask: 7, size: 8, dynamic: true}
	pairs := node{op: opLoop, mask: 7, dynamic: true, kids: newInner(plan{passed})}
	for name, nodes := range map[string]plan{
		"all copied":     {copied},
		"head copied":    {copied, passed},
		"none copied":    {passed},
		"string":         {text},
		"string at last": {copied, passed, text},
		"two strings":    {copied, text, passed, text, passed},
		"sequence":       {copied, length(8), sequence},
		"long sequence":  {length(32), sequence, passed},
		"pairs":          {length(16), pairs, text},
		"two sequences":  {length(8), sequence, passed, length(16), pairs},
	} {
		q := newQuickPayload(nodes)
		if q == nil {
			t.Errorf("%s: needs its plan", name)
			continue
		}
		packet := []byte("\x02\x00\x00\x00ad\x00str\x02\x00g\x00and\x00\x03\x00rest\x00")
		for end := range 8*len(packet) + 1 {
			for pos := range min(end, 17) {
				plan := decoder{buf: packet, pos: pos, end: end, out: new(output), slots: make([]uint64, 1)}
				quick := decoder{buf: packet, pos: pos, end: end, out: new(output)}
				want, got := plan.run(nodes), q.read(&quick)
				if got != want && end%8 == 0 {
					t.Fatalf("%s, bits %d to %d: %t, the plan says %t", name, pos, end, got, want)
				}
				switch {
				case got && (quick.pos != plan.pos || !bytes.Equal(quick.out.data, plan.out.data)):
					t.Fatalf("%s, bits %d to %d: ends at %d with %q, by the plan at %d with %q", name, pos, end, quick.pos, quick.out.data, plan.pos, plan.out.data)
				case !got && (quick.pos != pos || len(quick.out.data) > 0):
					t.Fatalf("%s, bits %d to %d: moved to %d although it failed", name, pos, end, quick.pos)
				}
			}
		}
	}
}

func TestQuickPayloadNeedsPlan(t *testing.T) {
	bytes := node{op: opBytes, mask: 7, size: 16, width: 1}
	sequence := node{op: opCopy, mask: 7, size: 8, dynamic: true}
	for name, nodes := range map[string]plan{
		"nothing":        nil,
		"no space":       {{op: opBytes, mask: 7}},
		"copied later":   {{op: opString, mask: 7, size: 8}, bytes},
		"string on wire": {{op: opString, mask: 7, size: 8, width: 1}},
		"wide string":    {{op: opString, mask: 7, size: 16}},
		"name":           {{op: opString, mask: 7, size: 8, role: roleProcname}},
		"alignment":      {{op: opBytes, mask: 31, size: 16}},
		"integer":        {{op: opInt, mask: 7, size: 16, slot: 1}},
		"signed length":  {{op: opInt, mask: 7, size: 16, slot: 1, signed: true}, sequence},
		"big length":     {{op: opInt, mask: 7, size: 16, slot: 1, big: true}, sequence},
		"other length":   {{op: opInt, mask: 7, size: 16, slot: 2}, sequence},
		"length of bits": {{op: opInt, mask: 7, size: 24, slot: 1}, sequence},
		"length on wire": {{op: opInt, mask: 7, size: 16, slot: 1, width: 2}, sequence},
		"sequence twice": {{op: opInt, mask: 7, size: 16, slot: 1}, sequence, sequence},
		"on wire":        {{op: opInt, mask: 7, size: 16, slot: 1}, {op: opCopy, mask: 7, size: 8, dynamic: true, width: 1}},
		"of strings":     {{op: opInt, mask: 7, size: 16, slot: 1}, {op: opLoop, mask: 7, dynamic: true, kids: newInner(plan{{op: opString, mask: 7, size: 8}})}},
		"of nothing":     {{op: opInt, mask: 7, size: 16, slot: 1}, {op: opLoop, mask: 7, dynamic: true, kids: newInner(plan{{op: opBytes, mask: 7}})}},
	} {
		if newQuickPayload(nodes) != nil {
			t.Errorf("%s: read without its plan", name)
		}
	}
}
