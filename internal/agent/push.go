package agent

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/internal/otlp"
)

// maxResources is how many processes' metrics are sent together.
const maxResources = 200

// push sends metrics and log records until ctx ends, and then once more.
func (a *Agent) push(ctx context.Context) {
	var sending, collecting sync.WaitGroup
	sender, cancel := context.WithCancel(context.WithoutCancel(ctx))
	sending.Go(func() { a.sender.Run(sender) })
	if a.sends(otlp.Metrics) {
		collecting.Go(func() {
			every(ctx, a.config.OTLP.Interval, a.pushMetrics)
			a.pushMetrics(time.Now())
		})
	}
	if a.sends(otlp.Logs) {
		collecting.Go(func() { a.pushRecords(ctx) })
	}
	collecting.Wait()
	cancel()
	sending.Wait()
}

// sends reports whether a signal is enabled and has an endpoint.
func (a *Agent) sends(signal otlp.Signal) bool {
	wanted := [...]bool{otlp.Logs: a.config.OTLP.Logs, otlp.Metrics: a.config.OTLP.Metrics}
	return a.sender != nil && wanted[signal] && a.sender.Sends(signal)
}

// refused reports the first time that the endpoint refuses part of a signal; later
// refusals only count.
func (a *Agent) refused(signal otlp.Signal, _ int, why error) {
	a.refusals[signal].Do(func() { a.problem(fmt.Errorf("the OTLP endpoint refuses %s: %w", signal, why)) })
}

func (a *Agent) pushRecords(ctx context.Context) {
	tick := time.NewTicker(batchTime)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-tick.C:
		case <-a.records.full:
		}
		a.mu.Lock()
		all := a.records.waiting
		a.records.waiting = nil
		a.mu.Unlock()
		for some := range slices.Chunk(all, batch) {
			if a.sender.Push(otlp.Logs, logsOf(some), len(some)) != nil {
				a.dropRecords(len(some))
			}
		}
	}
}

func (a *Agent) dropRecords(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records.dropped += uint64(n)
}

func (a *Agent) pushMetrics(now time.Time) {
	a.mu.Lock()
	var all []*metricspb.ResourceMetrics
	a.eachGroup(func(g *group, values gauges) { all = append(all, a.resourceMetrics(g, values, now)) })
	a.mu.Unlock()
	for some := range slices.Chunk(all, maxResources) {
		points := 0
		for _, r := range some {
			points += pointsOf(r)
		}
		// A message that cannot be encoded is a bug, which the sender does not count.
		_ = a.sender.Push(otlp.Metrics, &metricspb.MetricsData{ResourceMetrics: some}, points)
	}
}

// resourceMetrics returns the series of a group.
func (a *Agent) resourceMetrics(g *group, values gauges, now time.Time) *metricspb.ResourceMetrics {
	b := builder{
		generation: a.config.Generation, start: uint64(g.created.UnixNano()), now: uint64(now.UnixNano()),
		points: make(map[*metric][]*metricspb.NumberDataPoint), histograms: make(map[*metric][]*metricspb.ExponentialHistogramDataPoint),
	}
	for _, k := range ordered(g.counters) {
		b.number(k, g.counters[k])
	}
	for _, k := range ordered(values) {
		b.number(k, values[k])
	}
	for _, k := range ordered(g.durations) {
		b.histogram(k, g.durations[k])
	}
	return &metricspb.ResourceMetrics{
		Resource:     otlp.NewResource(g.identity),
		ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: scope, Metrics: b.list()}},
	}
}

// A builder collects the metrics of a resource.
type builder struct {
	generation string
	start, now uint64 // Unix nanoseconds
	points     map[*metric][]*metricspb.NumberDataPoint
	histograms map[*metric][]*metricspb.ExponentialHistogramDataPoint
}

func (b *builder) attributes(k key) []*commonpb.KeyValue {
	names := k.metric.named(b.generation)
	kvs := make([]*commonpb.KeyValue, len(names))
	for i, name := range names {
		kvs[i] = &commonpb.KeyValue{Key: name, Value: otlp.String(k.values[i])}
	}
	return kvs
}

func (b *builder) number(k key, v float64) {
	b.points[k.metric] = append(b.points[k.metric], &metricspb.NumberDataPoint{
		Attributes: b.attributes(k), StartTimeUnixNano: b.start, TimeUnixNano: b.now, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: v},
	})
}

func (b *builder) histogram(k key, d *distribution) {
	p := &metricspb.ExponentialHistogramDataPoint{
		Attributes: b.attributes(k), StartTimeUnixNano: b.start, TimeUnixNano: b.now,
		Count: d.count, Sum: proto.Float64(d.sum), Scale: d.schema, ZeroCount: d.zero, ZeroThreshold: zeroThreshold,
		Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: d.first - 1, BucketCounts: slices.Clone(d.bucket)},
	}
	for i := range d.latest {
		if e := &d.latest[i]; e.trace.String() != "" && !e.pushed {
			e.pushed = true
			p.Exemplars = append(p.Exemplars, exemplarOf(e))
		}
	}
	b.histograms[k.metric] = append(b.histograms[k.metric], p)
}

// exemplarOf returns a pause of a request.
func exemplarOf(e *exemplar) *metricspb.Exemplar {
	return &metricspb.Exemplar{
		TimeUnixNano: uint64(e.at), TraceId: bytes.Clone(e.trace[:]), SpanId: bytes.Clone(e.span[:]),
		Value:              &metricspb.Exemplar_AsDouble{AsDouble: e.value},
		FilteredAttributes: []*commonpb.KeyValue{{Key: "gc", Value: otlp.String(strconv.FormatUint(uint64(e.gc), 10))}},
	}
}

// list returns the metrics that have points.
func (b *builder) list() []*metricspb.Metric {
	const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	var list []*metricspb.Metric
	for _, m := range metrics {
		out := &metricspb.Metric{Name: m.name, Unit: m.unit, Description: m.help}
		switch {
		case len(b.histograms[m]) > 0:
			out.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{
				DataPoints: b.histograms[m], AggregationTemporality: cumulative,
			}}
		case len(b.points[m]) == 0:
			continue
		case m.kind == peak:
			out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: b.points[m]}}
		default:
			out.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
				DataPoints: b.points[m], AggregationTemporality: cumulative, IsMonotonic: m.kind == counter,
			}}
		}
		list = append(list, out)
	}
	return list
}

func pointsOf(r *metricspb.ResourceMetrics) (n int) {
	for _, s := range r.ScopeMetrics {
		for _, m := range s.Metrics {
			n += len(m.GetSum().GetDataPoints()) + len(m.GetGauge().GetDataPoints()) + len(m.GetExponentialHistogram().GetDataPoints())
		}
	}
	return n
}
