package agent

import (
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Gather returns all metrics as Prometheus has them; see prometheus.Gatherer.
func (a *Agent) Gather() ([]*dto.MetricFamily, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.observeSelf()
	f := newFamilies(a.config.Generation)
	f.add(a.self, a.self.gauges())
	for _, g := range byName(a.groups) {
		f.add(g, g.values())
	}
	for _, g := range byName(a.ends) {
		f.add(g, nil)
	}
	return f.list(), nil
}

// byName returns groups by the values of their labels.
func byName(groups map[string]*group) []*group {
	all := make([]*group, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(x, y *group) int { return strings.Compare(x.name, y.name) })
	return all
}

// families are the metrics of a scrape.
type families struct {
	all    [numMetrics]*dto.MetricFamily
	labels [numMetrics][]*string // names
}

func newFamilies(generation string) *families {
	f := new(families)
	for id := range metrics {
		m := &metrics[id]
		f.all[id] = &dto.MetricFamily{Name: proto.String(m.prometheusName()), Help: proto.String(m.help), Type: dtoTypes[m.kind].Enum()}
		for _, name := range m.named(generation) {
			f.labels[id] = append(f.labels[id], proto.String(underscored(name)))
		}
	}
	return f
}

var dtoTypes = [...]dto.MetricType{
	counter: dto.MetricType_COUNTER, level: dto.MetricType_GAUGE, peak: dto.MetricType_GAUGE, histogram: dto.MetricType_HISTOGRAM,
}

// list returns the families that have metrics, by name.
func (f *families) list() []*dto.MetricFamily {
	list := slices.DeleteFunc(f.all[:], func(m *dto.MetricFamily) bool { return len(m.Metric) == 0 })
	slices.SortFunc(list, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// add adds the series of a group.
func (f *families) add(g *group, values gauges) {
	common := make([]*dto.LabelPair, len(g.pairs))
	for i := range g.pairs {
		common[i] = &dto.LabelPair{Name: &g.pairs[i].name, Value: &g.pairs[i].value}
	}
	for _, k := range ordered(g.counters) {
		f.metric(k, common).Counter = &dto.Counter{Value: proto.Float64(g.counters[k]), CreatedTimestamp: timestamppb.New(g.created)}
	}
	for _, k := range ordered(values) {
		f.metric(k, common).Gauge = &dto.Gauge{Value: proto.Float64(values[k])}
	}
	for _, k := range ordered(g.durations) {
		h := g.durations[k].prometheus()
		h.CreatedTimestamp = timestamppb.New(g.created)
		f.metric(k, common).Histogram = h
	}
}

// metric adds a series without a value.
func (f *families) metric(k key, common []*dto.LabelPair) *dto.Metric {
	names := f.labels[k.metric]
	pairs := make([]*dto.LabelPair, 0, len(common)+len(names))
	pairs = append(pairs, common...)
	for i, name := range names {
		pairs = append(pairs, &dto.LabelPair{Name: name, Value: proto.String(k.values[i])})
	}
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	m := &dto.Metric{Label: pairs}
	f.all[k.metric].Metric = append(f.all[k.metric].Metric, m)
	return m
}

// prometheus returns the distribution as a classic and a native histogram at once.
func (d *distribution) prometheus() *dto.Histogram {
	h := &dto.Histogram{
		SampleCount: proto.Uint64(d.count), SampleSum: proto.Float64(d.sum),
		Schema: proto.Int32(d.schema), ZeroThreshold: proto.Float64(zeroThreshold), ZeroCount: proto.Uint64(d.zero),
	}
	var sum uint64
	for i, n := range d.classic {
		sum += n
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		b := &dto.Bucket{UpperBound: proto.Float64(bound), CumulativeCount: proto.Uint64(sum), Exemplar: d.latest[i].prometheus()}
		h.Bucket = append(h.Bucket, b)
		if b.Exemplar != nil {
			h.Exemplars = append(h.Exemplars, b.Exemplar)
		}
	}
	// A native histogram without a span would be taken for a classic one.
	span := &dto.BucketSpan{Offset: proto.Int32(d.first), Length: proto.Uint32(uint32(len(d.bucket)))}
	h.PositiveSpan = []*dto.BucketSpan{span}
	var before int64
	for _, n := range d.bucket {
		h.PositiveDelta = append(h.PositiveDelta, int64(n)-before)
		before = int64(n)
	}
	return h
}

// prometheus returns the exemplar; nil if there is none.
func (e *exemplar) prometheus() *dto.Exemplar {
	if e.at.IsZero() {
		return nil
	}
	number := strconv.FormatUint(uint64(e.gc), 10)
	return &dto.Exemplar{
		Label:     []*dto.LabelPair{{Name: proto.String("gc"), Value: &number}},
		Value:     proto.Float64(e.value),
		Timestamp: timestamppb.New(e.at),
	}
}
