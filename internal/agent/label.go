package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
)

// A label distinguishes processes: in Prometheus under its name, in the
// resources of OTLP under its key.
type label struct {
	name, key string
}

var labels = []label{
	{"pid", "process.pid"},
	{"process", "process.executable.name"},
	{"runtime", "process.runtime.version"},
	{"service", "service.name"},
	{"container", "container.id"},
	{"namespace", "k8s.namespace.name"},
	{"pod", "k8s.pod.name"},
	{"container_name", "k8s.container.name"},
	{"diagnostic_port", portKey},
}

// portKey is the attribute of processes behind diagnostic ports: two phones can have the same
// program under the same id.
const portKey = "gctrail.diagnostic_port"

// LabelNames returns the labels that a configuration can choose.
func LabelNames() []string {
	return text.Each(labels, func(l *label) string { return l.name })
}

// chosenLabels returns the labels with these names, in the order of the table.
func chosenLabels(names []string) ([]label, error) {
	for _, name := range names {
		if !slices.Contains(LabelNames(), name) {
			return nil, fmt.Errorf("unknown label %q; labels: %s", name, strings.Join(LabelNames(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return !slices.Contains(names, l.name) }), nil
}

// ofOneProcess are attributes that differ for each process, like its PID.
var ofOneProcess = []string{"process.pid", "service.instance.id", "gctrail.process.uid", "process.command_line"}
