package proc

import (
	"bytes"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// findGroup returns the process's cgroup, or the parent with the lowest quota, because
// that throttles the process first.
func (r *ProcessorReader) findGroup(b *Buffer) group {
	for _, h := range hierarchies(r.root, r.folder, "cpu") {
		var found group
		for folder := range h.Folders() {
			stat := filepath.Join(folder, "cpu.stat")
			if !throttlingOf(b, stat, h.V2).periods.Known() {
				continue // no controller, or a root of version 2
			}
			if found.stat == "" {
				found = group{stat: stat, v2: h.V2, pressure: filepath.Join(folder, "cpu.pressure")}
			}
			quota, period := quotaOf(b, folder, h.V2)
			if quota > 0 && (found.quota == 0 || float64(quota)*float64(found.period) < float64(found.quota)*float64(period)) {
				found.stat, found.quota, found.period = stat, quota, period
			}
		}
		if found.stat != "" {
			return found
		}
	}
	return group{}
}

// maxQuota is a number of microseconds that no quota and no period exceeds.
const maxQuota = math.MaxInt64 / int64(time.Microsecond)

// quotaOf returns the quota of a cgroup; 0 if it has none.
func quotaOf(b *Buffer, folder string, v2 bool) (quota, period time.Duration) {
	n := [2]int64{number(filepath.Join(folder, "cpu.cfs_quota_us")).Or(0), number(filepath.Join(folder, "cpu.cfs_period_us")).Or(0)}
	if v2 {
		text, err := b.Read(filepath.Join(folder, "cpu.max"))
		if err != nil || !numbers(text, n[:]) { // "max 100000"
			return 0, 0
		}
	}
	if n[0] <= 0 || n[1] <= 0 || n[0] > maxQuota || n[1] > maxQuota {
		return 0, 0
	}
	return time.Duration(n[0]) * time.Microsecond, time.Duration(n[1]) * time.Microsecond
}

// throttlingOf reads a cpu.stat. Version 1 counts nanoseconds.
func throttlingOf(b *Buffer, path string, v2 bool) (t throttling) {
	text, err := b.Read(path)
	if err != nil {
		return t
	}
	var spent gc.Opt[int64]
	unit, name := int64(1), "throttled_time"
	if v2 {
		unit, name = int64(time.Microsecond), "throttled_usec"
	}
	fields(text, " ", 1, map[string]*gc.Opt[int64]{"nr_periods": &t.periods, "nr_throttled": &t.throttled})
	fields(text, " ", unit, map[string]*gc.Opt[int64]{name: &spent})
	n, known := spent.Get()
	t.time = gc.SomeIf(time.Duration(n), known)
	return t
}

func (s *Scan) throttling(b *Buffer, g *group) throttling {
	return once(&s.throttle, g.stat, func() throttling { return throttlingOf(b, g.stat, g.v2) })
}

func (s *Scan) stalled(b *Buffer, path string) gc.Opt[time.Duration] {
	return once(&s.pressure, path, func() gc.Opt[time.Duration] { return pressureOf(b, path) })
}

// once reads a file, unless the figures in it are known from an earlier call.
func once[T any](known *map[string]T, path string, read func() T) T {
	v, ok := (*known)[path]
	if !ok {
		if *known == nil {
			*known = make(map[string]T)
		}
		v = read()
		(*known)[path] = v
	}
	return v
}

// pressureOf reads the total of the line "some avg10=… total=…", in microseconds.
func pressureOf(b *Buffer, path string) gc.Opt[time.Duration] {
	text, err := b.Read(path)
	if err != nil {
		return gc.Opt[time.Duration]{}
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, total, found := bytes.Cut(line, []byte(" total="))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(total)), 10, 64)
	if !found || !bytes.HasPrefix(line, []byte("some ")) || err != nil || n < 0 || n > maxQuota {
		return gc.Opt[time.Duration]{}
	}
	return gc.Some(time.Duration(n) * time.Microsecond)
}
