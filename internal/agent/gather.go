package agent

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gctrail/gctrail/internal/text"
)

// A content selects the parts of a scrape beyond classic histograms that a format can
// hold. The rest is not made.
type content struct{ exemplars, native bool }

// contentOf returns the content of a format.
func contentOf(t expfmt.FormatType) content {
	return content{exemplars: t != expfmt.TypeTextPlain, native: t != expfmt.TypeTextPlain && t != expfmt.TypeOpenMetrics}
}

// gather returns all metrics as Prometheus metrics.
func (a *Agent) gather(c content) []*dto.MetricFamily {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trim(time.Now())
	f := newFamilies(a.config.Generation, c)
	a.eachGroup(f.add)
	return f.list()
}

// eachGroup calls f with each group and the values of its gauges.
func (a *Agent) eachGroup(f func(*group, gauges)) {
	a.observeSelf()
	f(a.self, a.self.values())
	for _, g := range byName(a.groups) {
		f(g, g.values())
	}
	for _, g := range byName(a.ends) {
		f(g, nil)
	}
}

// with gathers the agent's metrics and others, of other names. The agent's are
// consistent: prometheus.Gatherers would copy them to check that.
func (a *Agent) with(others prometheus.Gatherer, c content) prometheus.GathererFunc {
	return func() ([]*dto.MetricFamily, error) {
		rest, err := others.Gather()
		return append(a.gather(c), rest...), err
	}
}

// byName returns groups by the values of their labels.
func byName(groups map[string]*group) []*group {
	return slices.SortedFunc(maps.Values(groups), func(x, y *group) int { return strings.Compare(x.name, y.name) })
}

// families are the metrics of a scrape. Because scrapes are the agent's peak of memory,
// it makes common parts once, and a histogram in one piece.
type families struct {
	content
	all       []*dto.MetricFamily // by the index of the metric, as the next
	labels    [][]string          // names
	pairs     map[pair]*dto.LabelPair
	bounds    []*float64
	threshold *float64
	labelled  [3]*string // the labels of exemplars: gc, trace_id, span_id
}

func newFamilies(generation string, c content) *families {
	f := &families{content: c, pairs: make(map[pair]*dto.LabelPair), labelled: [...]*string{proto.String("gc"), proto.String("trace_id"), proto.String("span_id")}, threshold: proto.Float64(zeroThreshold)}
	for _, m := range metrics {
		f.all = append(f.all, &dto.MetricFamily{Name: proto.String(m.prometheusName()), Help: proto.String(m.help), Type: dtoTypes[m.kind].Enum()})
		f.labels = append(f.labels, text.Each(m.named(generation), func(name *string) string { return underscored(*name) }))
	}
	f.bounds = append(text.Each(bounds, func(bound *float64) *float64 { return proto.Float64(*bound) }), proto.Float64(math.Inf(1)))
	return f
}

var dtoTypes = [...]dto.MetricType{
	counter: dto.MetricType_COUNTER, level: dto.MetricType_GAUGE, peak: dto.MetricType_GAUGE, histogram: dto.MetricType_HISTOGRAM,
}

// list returns the families that have metrics, by name.
func (f *families) list() []*dto.MetricFamily {
	list := slices.DeleteFunc(f.all, func(m *dto.MetricFamily) bool { return len(m.Metric) == 0 })
	slices.SortFunc(list, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// add adds the series of a group.
func (f *families) add(g *group, values gauges) {
	common := text.Each(g.pairs, func(p *pair) *dto.LabelPair { return &dto.LabelPair{Name: &p.name, Value: &p.value} })
	created := timestamppb.New(g.created)
	for _, k := range ordered(g.counters) {
		f.metric(k, common).Counter = &dto.Counter{Value: proto.Float64(g.counters[k]), CreatedTimestamp: created}
	}
	for _, k := range ordered(values) {
		f.metric(k, common).Gauge = &dto.Gauge{Value: proto.Float64(values[k])}
	}
	for _, k := range ordered(g.durations) {
		h := f.histogram(g.durations[k])
		h.CreatedTimestamp = created
		f.metric(k, common).Histogram = h
	}
}

// metric adds a series without a value.
func (f *families) metric(k key, common []*dto.LabelPair) *dto.Metric {
	names := f.labels[k.metric.index]
	pairs := make([]*dto.LabelPair, 0, len(common)+len(names))
	pairs = append(pairs, common...)
	for i, name := range names {
		pairs = append(pairs, f.pair(pair{name, k.values[i]}))
	}
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	m := &dto.Metric{Label: pairs}
	family := f.all[k.metric.index]
	family.Metric = append(family.Metric, m)
	return m
}

// pair returns a label that many series have.
func (f *families) pair(of pair) *dto.LabelPair {
	p := f.pairs[of]
	if p == nil {
		p = &dto.LabelPair{Name: &of.name, Value: &of.value}
		f.pairs[of] = p
	}
	return p
}

// A scraped is a histogram of a scrape, with the values it points to.
type scraped struct {
	histogram   dto.Histogram
	count, zero uint64
	sum         float64
	schema      int32
	span        dto.BucketSpan
	spans       [1]*dto.BucketSpan
	offset      int32
	length      uint32
}

// histogram returns a distribution as a classic and as a native histogram in one.
func (f *families) histogram(d *distribution) *dto.Histogram {
	s := &scraped{count: d.count, sum: d.sum, zero: d.zero, schema: d.schema, offset: d.first, length: uint32(len(d.bucket))}
	h := &s.histogram
	h.SampleCount, h.SampleSum = &s.count, &s.sum
	buckets, counts := make([]dto.Bucket, len(d.classic)), slices.Clone(d.classic)
	h.Bucket = make([]*dto.Bucket, len(d.classic))
	for i := range buckets {
		if i > 0 {
			counts[i] += counts[i-1]
		}
		b := &buckets[i]
		b.UpperBound, b.CumulativeCount = f.bounds[i], &counts[i]
		if e := &d.latest[i]; e.at != 0 && f.exemplars {
			b.Exemplar = f.exemplar(e)
			h.Exemplars = append(h.Exemplars, b.Exemplar)
		}
		h.Bucket[i] = b
	}
	if !f.native {
		return h
	}
	h.ZeroCount, h.Schema, h.ZeroThreshold = &s.zero, &s.schema, f.threshold
	// Prometheus treats a native histogram without a span as a classic one.
	s.span.Offset, s.span.Length = &s.offset, &s.length
	s.spans[0] = &s.span
	h.PositiveSpan = s.spans[:]
	h.PositiveDelta = make([]int64, len(d.bucket))
	var before int64
	for i, n := range d.bucket {
		h.PositiveDelta[i] = int64(n) - before
		before = int64(n)
	}
	return h
}

func (f *families) exemplar(e *exemplar) *dto.Exemplar {
	number, value := strconv.FormatUint(uint64(e.gc), 10), e.value
	labels := []*dto.LabelPair{{Name: f.labelled[0], Value: &number}}
	if id := e.trace.String(); id != "" {
		labels = append(labels, &dto.LabelPair{Name: f.labelled[1], Value: &id}, &dto.LabelPair{Name: f.labelled[2], Value: proto.String(e.span.String())})
	}
	return &dto.Exemplar{
		Label:     labels,
		Value:     &value,
		Timestamp: timestamppb.New(time.Unix(0, e.at)),
	}
}
