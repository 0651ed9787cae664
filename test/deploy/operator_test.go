package deploy

import (
	"bytes"
	"encoding/json"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

// checkOperator decodes an object as the Prometheus Operator does, but refuses unknown
// fields.
func checkOperator(t *testing.T, o object) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch o["kind"] {
	case "PodMonitor":
		var m monitoring.PodMonitor
		if err := d.Decode(&m); err != nil {
			t.Error(err)
		}
		if e := m.Spec.PodMetricsEndpoints; len(e) != 1 || *e[0].Port != "gctrail" || e[0].Interval != "15s" {
			t.Errorf("%+v", e)
		}
		if classic := m.Spec.ScrapeClassicHistograms; classic == nil || !*classic {
			t.Error("Prometheus does not store the buckets of pauses where it stores native histograms")
		}
	case "PrometheusRule":
		var r monitoring.PrometheusRule
		if err := d.Decode(&r); err != nil {
			t.Error(err)
		}
		if len(r.Spec.Groups) != 1 || len(r.Spec.Groups[0].Rules) < 7 {
			t.Errorf("%+v", r.Spec)
		}
	default:
		t.Errorf("the operator knows no %v", o["kind"])
	}
}
