package agent

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/text"
)

// A key identifies a series within its group: its metric, and the values of the metric's
// labels.
type key struct {
	metric *metric
	values [3]string
}

func keyOf(m *metric, values []string) key {
	k := key{metric: m}
	copy(k.values[:], values)
	return k
}

// A group holds the processes with the same labels: one process if the PID is a label.
// Counters belong to the group, so that they do not fall when a process ends.
type group struct {
	name      string // the values of its labels, joined
	identity  identity
	pairs     []pair
	created   time.Time
	emptied   time.Time // when its last process ended
	bytes     int       // its size then
	counters  map[key]float64
	durations map[key]*distribution
	processes map[int]*process // by the ID of their watching
}

// A pair is a label of Prometheus with its value.
type pair struct{ name, value string }

func newGroup(id identity, chosen []label, now time.Time) *group {
	g := &group{
		identity: id, created: now,
		counters: make(map[key]float64), durations: make(map[key]*distribution), processes: make(map[int]*process),
	}
	for _, l := range chosen {
		if value := id.value(l); value != "" {
			g.pairs = append(g.pairs, pair{l.name, value})
		}
	}
	g.name = groupName(id, chosen)
	return g
}

func groupName(id identity, chosen []label) string {
	return strings.Join(text.Each(chosen, func(l *label) string { return id.value(*l) }), "\x00")
}

func (g *group) count(m *metric, n float64, values ...string) {
	g.counters[keyOf(m, values)] += n
}

func (g *group) observe(m *metric, d time.Duration, e exemplar, values ...string) {
	k := keyOf(m, values)
	series := g.durations[k]
	if series == nil {
		series = newDistribution()
		g.durations[k] = series
	}
	e.value = d.Seconds()
	series.add(e)
}

// gauges are values by their series.
type gauges map[key]float64

func (g gauges) set(m *metric, v float64, values ...string) {
	g[keyOf(m, values)] = v
}

// dropAll removes the series of a metric.
func (g gauges) dropAll(m *metric) {
	maps.DeleteFunc(g, func(k key, _ float64) bool { return k.metric == m })
}

// values returns the gauges of all processes together.
func (g *group) values() gauges {
	all := make(gauges)
	for _, p := range g.processes {
		for k, v := range p.gauges {
			if k.metric.kind == peak {
				all[k] = max(all[k], v)
			} else {
				all[k] += v
			}
		}
	}
	return all
}

// ordered returns keys by metric and label values.
func ordered[V any](series map[key]V) []key {
	return slices.SortedFunc(maps.Keys(series), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.metric.index, b.metric.index), slices.Compare(a.values[:], b.values[:]))
	})
}
