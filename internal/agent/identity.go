package agent

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/otlp"
)

// An identity holds the resource attributes of a process by key: strings and int64s.
type identity map[string]any

// maxValue bounds the length of an attribute that a process sets, in bytes.
const maxValue = 128

// maxOwnAttributes bounds how many attributes a process adds to its resource.
const maxOwnAttributes = 32

// identify returns the attributes of a process from its runtime, its environment and its
// cgroup, as far as they can be read. The user's configuration wins over the process's
// own attributes.
func identify(p *diag.Process, outside *outside, host string, configured map[string]string) identity {
	id := identity{
		"host.name":               host,
		"process.pid":             int64(cmp.Or(p.PID, p.InnerPID)),
		"process.executable.name": p.Name,
		"process.runtime.name":    ".NET",
		"container.id":            cmp.Or(outside.container, p.Container),
		"k8s.node.name":           os.Getenv("NODE_NAME"),
	}
	if p.Info != nil {
		cookie := p.Info.Cookie
		id[otlp.UID] = cookie.String()
		id["service.instance.id"] = fmt.Sprintf("%x-%x-%x-%x-%x", cookie[:4], cookie[4:6], cookie[6:8], cookie[8:10], cookie[10:])
		id["process.runtime.version"] = p.Info.RuntimeVersion
	} else {
		id[otlp.UID] = fmt.Sprintf("%s-%d-%d", host, p.PID, p.Started.Unix())
	}
	id.addEnvironment(outside.environment, p.Name)
	id["k8s.namespace.name"] = cmp.Or(outside.namespace, id.text("k8s.namespace.name"))
	id["k8s.pod.uid"] = cmp.Or(outside.pod, id.text("k8s.pod.uid"))
	for key, value := range id {
		if s, ok := value.(string); ok {
			id[key] = clean(s, maxValue)
		}
	}
	for key, value := range configured {
		id[key] = value
	}
	maps.DeleteFunc(id, func(_ string, value any) bool { return value == "" })
	return id
}

// addEnvironment adds attributes from a process's environment: OTEL_RESOURCE_ATTRIBUTES
// and OTEL_SERVICE_NAME, as OpenTelemetry's .NET SDK reads them, and the variables that
// the downward API of Kubernetes is commonly mapped to.
func (id identity) addEnvironment(environment map[string]string, name string) {
	id["service.name"] = "unknown_service:" + name
	if environment["KUBERNETES_SERVICE_HOST"] != "" {
		id["k8s.pod.name"] = cmp.Or(environment["POD_NAME"], environment["HOSTNAME"])
		id["k8s.namespace.name"] = environment["POD_NAMESPACE"]
		id["k8s.container.name"] = environment["CONTAINER_NAME"]
		id["k8s.node.name"] = cmp.Or(environment["NODE_NAME"], id.text("k8s.node.name"))
	}
	own, err := otlp.ParsePairs(environment["OTEL_RESOURCE_ATTRIBUTES"])
	if err == nil && len(own) <= maxOwnAttributes {
		for key, value := range own {
			if !isReserved(key) {
				id[clean(key, maxValue)] = value
			}
		}
	}
	if service := environment["OTEL_SERVICE_NAME"]; service != "" {
		id["service.name"] = service
	}
}

// isReserved reports whether an attribute has a better source than the process itself.
func isReserved(key string) bool {
	return strings.HasPrefix(key, "process.") || strings.HasPrefix(key, "gctrail.") || key == "container.id"
}

// text returns the value of an attribute, empty if it is not a text.
func (id identity) text(key string) string {
	s, _ := id[key].(string)
	return s
}

// clean makes a process's text fit for a label: valid UTF-8, without control characters,
// and with at most so many bytes.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// An outside holds the system's description of a process.
type outside struct {
	container   string // its whole id
	pod         string // uid
	namespace   string
	environment map[string]string
	properties  map[string]string // of the runtime, in runtimeconfig.json
}

// value returns a label's value for Prometheus.
func (id identity) value(l label) string {
	switch v := id[l.key].(type) {
	case int64:
		return fmt.Sprint(v)
	case string:
		switch {
		case l.name == "runtime":
			return ".NET " + v
		case l.name == "container" && len(v) > shortContainer:
			return v[:shortContainer]
		}
		return v
	}
	return ""
}

// shortContainer is the length of the container ids that users see.
const shortContainer = 12
