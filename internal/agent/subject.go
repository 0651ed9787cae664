package agent

import (
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/profiler"
)

// subject returns a process as its profiles describe it: with the labels of its metrics, or
// with the attributes of its resource.
func (a *Agent) subject(p *diag.Process, of identity) *profiler.Subject {
	s := &profiler.Subject{Process: p, Service: of.text("service.name"), Attributes: of}
	for _, l := range a.chosen {
		if value := of.value(l); value != "" && l.name != "service" {
			s.Labels = append(s.Labels, profiler.Label{Name: l.name, Value: value})
		}
	}
	return s
}
