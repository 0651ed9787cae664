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
	for name, nodes := range map[string]plan{
		"all copied":     {copied},
		"head copied":    {copied, passed},
		"none copied":    {passed},
		"string":         {text},
		"string at last": {copied, passed, text},
		"two strings":    {copied, text, passed, text, passed},
	} {
		q := newQuickPayload(nodes)
		if q == nil {
			t.Errorf("%s: needs its plan", name)
			continue
		}
		packet := []byte("head\x00string\x00and\x00rest\x00")
		for end := range 8*len(packet) + 1 {
			for pos := range min(end, 17) {
				plan := decoder{buf: packet, pos: pos, end: end, out: new(output)}
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
	for name, nodes := range map[string]plan{
		"nothing":        nil,
		"no space":       {{op: opBytes, mask: 7}},
		"copied later":   {{op: opString, mask: 7, size: 8}, bytes},
		"string on wire": {{op: opString, mask: 7, size: 8, width: 1}},
		"wide string":    {{op: opString, mask: 7, size: 16}},
		"name":           {{op: opString, mask: 7, size: 8, role: roleProcname}},
		"alignment":      {{op: opBytes, mask: 31, size: 16}},
		"integer":        {{op: opInt, mask: 7, size: 16, slot: 1}},
	} {
		if newQuickPayload(nodes) != nil {
			t.Errorf("%s: read without its plan", name)
		}
	}
}
