package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// retention is how long the agent serves the counters of a process after its end, so
	// that a scrape finds their last values.
	retention = time.Minute
	// sharedRetention is the same for the counters of processes that share labels. It is
	// longer, because the next process of the name continues them.
	sharedRetention = time.Hour
	// maxEnded bounds the groups without a process, and maxEndedBytes and maxEndsBytes
	// their part of a scrape: less than 1 MB, however many processes end.
	maxEnded      = 100
	maxEndedBytes = 512 << 10
	maxEndsBytes  = 256 << 10
	// minEndedBytes is the room for ended processes if running ones need most of 1 MB.
	minEndedBytes = 128 << 10
	scrapeBytes   = 1<<20 - ownBytes
	ownBytes      = 32 << 10 // the agent's own metrics, and the descriptions of all
)

// expire drops groups without processes, the oldest first.
func (a *Agent) expire(now time.Time) {
	expire(a.ends, sharedRetention, maxEndsBytes, now)
	expire(a.groups, a.keeps(), maxEndedBytes, now)
}

// trim drops more groups without processes before a scrape, if running processes need their
// room.
func (a *Agent) trim(now time.Time) {
	used := 0
	for _, g := range a.ends {
		used += g.size()
	}
	for _, g := range a.groups {
		if len(g.processes) > 0 {
			used += g.size()
		}
	}
	expire(a.groups, a.keeps(), max(minEndedBytes, min(maxEndedBytes, scrapeBytes-used)), now)
}

// keeps returns how long groups without processes are served.
func (a *Agent) keeps() time.Duration {
	if a.single {
		return retention
	}
	return sharedRetention
}

func expire(groups map[string]*group, keep time.Duration, most int, now time.Time) {
	var ended []*group
	for _, g := range groups {
		if len(g.processes) == 0 {
			ended = append(ended, g)
		}
	}
	slices.SortFunc(ended, func(x, y *group) int {
		return cmp.Or(y.emptied.Compare(x.emptied), strings.Compare(x.name, y.name))
	})
	size := 0
	for i, g := range ended {
		size += g.bytes
		if i >= maxEnded || size > most || now.Sub(g.emptied) >= keep {
			delete(groups, g.name)
		}
	}
}

// The greatest size of a line of a scrape besides the names and values of its labels.
const (
	lineBytes     = 32 // its value, and the suffix of its name
	boundBytes    = 12
	exemplarBytes = 64
	moreLines     = 2 // of a histogram, besides its buckets: sum and count
)

// size returns how many bytes a group takes in a scrape, at most.
func (g *group) size() int {
	common := 0
	for i := range g.pairs {
		common += pairBytes(g.pairs[i].name, g.pairs[i].value)
	}
	size := 0
	for k := range g.counters {
		size += common + k.size()
	}
	for k := range g.values() {
		size += common + k.size()
	}
	for k, d := range g.durations {
		size += (len(d.classic) + moreLines) * (common + k.size() + boundBytes)
		for i := range d.latest {
			if d.latest[i].at != 0 {
				size += exemplarBytes
			}
		}
	}
	return size
}

// size returns how many bytes a line of a series takes without the labels of its group.
func (k key) size() int {
	size := lineBytes + len(k.metric.name) + len(unitSuffixes[k.metric.unit])
	for i, name := range k.metric.labels {
		size += pairBytes(name, k.values[i])
	}
	return size
}

// pairBytes returns how many bytes a label takes, with the quotes that its value needs.
func pairBytes(name, value string) int {
	return len(name) + len(value) + strings.Count(value, `"`) + strings.Count(value, `\`) + len(`="",`)
}
