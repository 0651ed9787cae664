package agent

import (
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/watch"
)

// behind returns a source that also has the processes behind diagnostic ports. It opens the ones
// to which runtimes connect.
func (a *Agent) behind(ports []diag.Port, source watch.Source) (watch.Source, error) {
	var called []diag.Port
	for _, p := range ports {
		if p.Connect {
			called = append(called, p)
			a.ports[p.Path] = true
			continue
		}
		l, err := diag.Listen(p.Path)
		if err != nil {
			a.closePorts()
			return source, err
		}
		a.served = append(a.served, l)
		a.ports[l.Address()] = true
		source = source.WithListener(l)
	}
	if len(called) > 0 {
		source = source.WithPorts(called)
	}
	return source, nil
}

func (a *Agent) closePorts() {
	for _, l := range a.served {
		_ = l.Close() // sessions go on to their end
	}
}
