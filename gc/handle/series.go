package handle

import (
	"time"

	"github.com/gctrail/gctrail/internal/timeline"
)

// maxBuckets bounds a series. When it is full, its buckets become twice as wide.
const maxBuckets = 64

// A series adds up changes in buckets of time.
type series struct {
	width   time.Duration // 0 while empty
	changes []int64
	bucket  int           // of the last change
	from    time.Duration // when it begins
}

// A Point is a number at a time.
type Point struct {
	At time.Duration // the end of the interval
	N  int64
}

const firstWidth = 100 * time.Millisecond

func (s *series) add(at time.Duration, n int64) {
	if uint64(at-s.from) >= uint64(s.width) { // also while empty
		s.turn(max(at, 0))
	}
	s.changes[s.bucket] += n
}

// turn makes the bucket of a time the one that add adds to.
func (s *series) turn(at time.Duration) {
	if s.width == 0 {
		s.width = firstWidth
	}
	s.bucket = timeline.Bucket(at, &s.width, &s.changes, maxBuckets, func(into, later *int64) { *into += *later })
	s.from = time.Duration(s.bucket) * s.width
}

func (s *series) merge(t *series) {
	for i, n := range t.changes {
		s.add(time.Duration(i)*t.width, n)
	}
}

// points returns the running sums.
func (s *series) points() []Point {
	points := make([]Point, len(s.changes))
	var sum int64
	for i, n := range s.changes {
		sum += n
		points[i] = Point{time.Duration(i+1) * s.width, sum}
	}
	return points
}

// growth returns the slope of the second half of points in units a second, if
// they go up all the way: what is left at the end of each quarter of it is more
// than at the end of the one before.
func growth(points []Point) float64 {
	const quarters = 4
	second := points[len(points)/2:]
	if len(second) < 2*quarters {
		return 0
	}
	last := points[len(points)/2].N
	for q := 1; q <= quarters; q++ {
		at := second[len(second)*q/quarters-1]
		if at.N <= last {
			return 0
		}
		last = at.N
	}
	first, end := second[0], second[len(second)-1]
	return float64(end.N-first.N) / (end.At - first.At).Seconds()
}
