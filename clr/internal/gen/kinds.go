package main

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// kindsFile has the providers and the kinds of events.
func (t *table) kindsFile() *writer {
	w := &writer{}
	w.p("// The providers of the runtime. SampleProvider samples the stacks of all threads, which\n// it suspends for that; its events have no structs.\nconst (")
	for _, p := range t.Providers {
		w.p("%sProvider = %q", p.Go, p.Name)
	}
	w.p(")\n")
	w.p("// The providers' GUIDs.\nvar (")
	for _, p := range t.Providers {
		if p.GUID != "" {
			w.p("%sGUID = GUID{%s} // %s", p.Go, guidBytes(p.GUID), p.GUID)
		}
	}
	w.p(")\n")
	w.p("var providers = [...]struct {\nguid GUID\nname string\n}{")
	for _, p := range t.Providers {
		if p.GUID != "" {
			w.p("{%sGUID, %sProvider},", p.Go, p.Go)
		}
	}
	w.p("}\n")
	w.p("// The kinds of events, provider by provider.\nconst (\nKindUnknown Kind = iota")
	for _, p := range t.Providers {
		for _, e := range p.Events {
			w.p("Kind%s", e.goName())
		}
	}
	w.p("numKinds\n)\n")
	for _, p := range t.Providers {
		if len(p.Events) == 0 {
			continue
		}
		w.p("var %sKinds = [...]Kind{", lower(p.Go))
		for _, e := range p.Events {
			w.p("%d: Kind%s,", e.ID, e.goName())
		}
		w.p("}\n")
	}
	w.p("// kindsOf returns the kinds of a provider's events by id.\nfunc kindsOf(provider string) []Kind {\nswitch provider {")
	for _, p := range t.Providers {
		if len(p.Events) > 0 {
			w.p("case %sProvider:\nreturn %sKinds[:]", p.Go, lower(p.Go))
		}
	}
	w.p("}\nreturn nil\n}\n")
	w.p("// newEvent makes the struct of each kind.")
	w.p("var newEvent = [numKinds]func() Event{")
	for _, p := range t.Providers {
		for _, e := range p.Events {
			w.p("Kind%s: func() Event { return new(%s) },", e.goName(), e.goName())
		}
	}
	w.p("}")
	return w
}

// etlFile has the names of the providers for package etl, which does not import clr.
func (t *table) etlFile() *writer {
	w := &writer{pkg: "etl"}
	w.p("const (")
	for _, p := range t.Providers {
		if p.Go == "Runtime" || p.Go == "Private" {
			w.p("%sProvider = %q", lower(p.Go), p.Name)
		}
	}
	w.p(")\n")
	w.p("// runtimeProviders are the names of the runtime's providers, by GUID.")
	w.p("var runtimeProviders = map[string]string{")
	for _, p := range t.Providers {
		if p.GUID != "" {
			w.p("%q: %q,", p.GUID, p.Name)
		}
	}
	w.p("}\n")
	w.p("// classics are events that were raised the classic way, by task and opcode.")
	w.p("var classics = map[string]map[uint8]classic{")
	for _, p := range t.Providers {
		if p.Classic != nil {
			w.p("%q: {", p.Classic.GUID)
			p.classics(w, t)
			w.p("},")
		}
	}
	w.p("}")
	return w
}

// classics writes the events of a provider's classic task. They have only the first keyword.
func (p *provider) classics(w *writer, t *table) {
	for _, e := range p.Events {
		for _, opcode := range []int{e.Opcode, p.Classic.Opcodes[e.ID]} {
			if opcode > 0 && e.ID <= p.Classic.Last {
				w.p("%d: {%sProvider, %d, %d, %#x}, // %s", opcode, lower(p.Go), e.ID, levels[e.Level], t.bits[e.Keywords[0]], e.Name)
			}
		}
	}
}

// guidBytes returns the bytes of a GUID in memory: its first three groups are
// little endian.
func guidBytes(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 {
		panic("GUID " + s)
	}
	b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	b[4], b[5], b[6], b[7] = b[5], b[4], b[7], b[6]
	var out strings.Builder
	for _, x := range b {
		fmt.Fprintf(&out, "%#02x, ", x)
	}
	return strings.TrimSuffix(out.String(), ", ")
}

// testFile lets tests make the struct of any kind of dynamic event.
func (t *table) testFile() *writer {
	w := &writer{}
	w.p("type dynamicEncoding interface {\nDecode(data []byte) error\nAppend(dst []byte) []byte\n}\n")
	w.p("var newDynamic = [...]func() dynamicEncoding{")
	for _, e := range t.Dynamic {
		w.p("Dynamic%s: func() dynamicEncoding { return new(%s) },", e.Name, e.Name)
	}
	w.p("}")
	return w
}
