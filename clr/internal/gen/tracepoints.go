package main

import "strings"

// tracepointsFile maps names of tracepoints to events.
func (t *table) tracepointsFile() *writer {
	w := &writer{}
	w.p("// tracepoints are the events by the names that they have in LTTng traces,")
	w.p("// without their versions.")
	w.p("var tracepoints = map[string]Kind{")
	for _, p := range t.Providers {
		provider, ok := strings.CutPrefix(p.Name, "Microsoft-Windows-DotNET")
		if !ok {
			continue
		}
		for _, e := range p.Events {
			w.p("%q: Kind%s,", "DotNET"+provider+":"+e.Name, e.goName())
		}
	}
	w.p("}")
	return w
}
