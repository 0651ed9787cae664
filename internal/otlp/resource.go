package otlp

import (
	"cmp"
	"slices"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/gctrail/gctrail/gc/figure"
)

// UID is the key of the attribute that identifies a process among all processes:
// the runtime's random cookie in hexadecimal.
const UID = "gctrail.process.uid"

// A ResourceAttribute is an attribute of the Resource of a process. Others may
// come with it, from OTEL_RESOURCE_ATTRIBUTES or a Collector.
type ResourceAttribute struct {
	Key    string
	Column string
	Type   figure.Type // Text or Int
}

// Resource returns the attributes of a Resource that tables have columns for.
func Resource() []ResourceAttribute { return slices.Clone(resource) }

var resource = []ResourceAttribute{
	{UID, "process_uid", figure.Text},
	{"service.name", "service_name", figure.Text},
	{"service.namespace", "service_namespace", figure.Text},
	{"service.version", "service_version", figure.Text},
	{"service.instance.id", "service_instance_id", figure.Text},
	{"deployment.environment.name", "deployment_environment", figure.Text},
	{"host.name", "host_name", figure.Text},
	{"process.pid", "pid", figure.Int},
	{"process.executable.name", "process", figure.Text},
	{"process.runtime.name", "runtime_name", figure.Text},
	{"process.runtime.version", "runtime_version", figure.Text},
	{"container.id", "container_id", figure.Text},
	{"k8s.namespace.name", "k8s_namespace", figure.Text},
	{"k8s.pod.name", "k8s_pod", figure.Text},
	{"k8s.pod.uid", "k8s_pod_uid", figure.Text},
	{"k8s.container.name", "k8s_container", figure.Text},
	{"k8s.deployment.name", "k8s_deployment", figure.Text},
	{"k8s.node.name", "k8s_node", figure.Text},
}

// NewResource returns a Resource with attributes in the order of their keys. Empty
// strings are left out; what Resource lists as an integer is an int64.
func NewResource(attributes map[string]any) *resourcepb.Resource {
	r := new(resourcepb.Resource)
	for key, value := range attributes {
		switch v := value.(type) {
		case string:
			if v != "" {
				r.Attributes = append(r.Attributes, &commonpb.KeyValue{Key: key, Value: String(v)})
			}
		case int64:
			r.Attributes = append(r.Attributes, &commonpb.KeyValue{Key: key, Value: Int(v)})
		}
	}
	slices.SortFunc(r.Attributes, func(a, b *commonpb.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	return r
}
