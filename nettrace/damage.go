package nettrace

import (
	"math"

	"github.com/gctrail/gctrail/internal/eventpipe"
)

// A damage follows the places of a trace that could not be read, and the times that their
// events may have.
type damage struct {
	count int               // of the places
	times []eventpipe.Times // of the first maxPlaces; the last one is unknown if there are more
}

// maxPlaces bounds the places whose times are kept.
const maxPlaces = 64

// add adds a place with events between some times, AllTimes if they are unknown.
func (d *damage) add(times eventpipe.Times) {
	d.count++
	if len(d.times) < maxPlaces {
		d.times = append(d.times, times)
	} else {
		d.times[maxPlaces-1] = eventpipe.AllTimes
	}
}

// since returns the times that events in the places after the first n may have, in ticks after
// start.
func (d *damage) since(n int, start uint64) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, times := range d.times[min(n, maxPlaces-1, len(d.times)):] {
		if times == eventpipe.AllTimes {
			return math.MinInt64, math.MaxInt64
		}
		from, to = min(from, int64(times.From-start)), max(to, int64(times.From+times.Span-start))
	}
	return from, to
}

// unread notes that events of a thread from a time to another may be in the places after the
// first n that could not be read.
func (s *sequences) unread(n int, from, to uint64) {
	least, most := s.damage.since(n, s.start)
	least, most = max(least, int64(from-s.start)), min(most, int64(to-s.start))
	if least <= most {
		from, to = s.start+uint64(least), s.start+uint64(most)
	}
	s.lost(0, from, to)
}
