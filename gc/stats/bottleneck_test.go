package stats_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// paused draws collections whose pauses follow each other, of milliseconds so that
// scores are exact.
func paused(t *rapid.T) []*gc.Collection {
	process := &gc.Process{PID: 1, Stopped: time.Hour}
	var list []*gc.Collection
	at := time.Duration(0)
	for n := range rapid.IntRange(1, 12).Draw(t, "count") {
		at += time.Duration(rapid.IntRange(1, 40).Draw(t, "gap")) * time.Millisecond
		pause := time.Duration(rapid.IntRange(1, 8).Draw(t, "pause")) * time.Millisecond
		list = append(list, &gc.Collection{
			Process: process, Number: uint32(n + 1), Start: gc.Some(at), PauseStart: gc.Some(at), AllPauses: true,
			Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: pause}},
		})
		at += pause
	}
	return list
}

// TestBottlenecks compares the intervals with a search over every pair of pauses: an
// interval that scores more than each part of it that lacks one of its ends, and lies in
// no longer one of that sort. Asking early changes no later answer.
func TestBottlenecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := paused(t)
		const below = 75 // percent: quarters of milliseconds
		b := stats.Bottlenecks{Below: below, MinLength: 1}
		for n, c := range list {
			b.Add(c)
			if n < len(list)-1 && !rapid.Bool().Draw(t, "ask") {
				continue
			}
			got, count := b.All()
			slices.SortFunc(got, func(a, b stats.Bottleneck) int { return int(a.From - b.From) })
			want := slowBottlenecks(list[:n+1], below)
			if count != len(got) || !slices.Equal(got, want) {
				t.Fatalf("%v\nwant %v", got, want)
			}
			for _, i := range got {
				if i.MutatorUtilization() >= below {
					t.Errorf("%v: the program had %v %%", i, i.MutatorUtilization())
				}
			}
		}
	})
}

func slowBottlenecks(list []*gc.Collection, below float64) []stats.Bottleneck {
	of := func(first, last int) stats.Bottleneck {
		b := stats.Bottleneck{From: list[first].Pauses[0].Start, To: list[last].Pauses[0].End(), Pauses: last - first + 1}
		for _, c := range list[first : last+1] {
			b.Pause += c.Pauses[0].Duration
		}
		return b
	}
	score := func(from, to time.Duration) float64 {
		var pause time.Duration
		for _, c := range list {
			p := &c.Pauses[0]
			pause += max(0, min(to, p.End())-max(from, p.Start))
		}
		return float64(pause)*below - float64(to-from-pause)*(100-below)
	}
	// An interval counts where every beginning and every end of it scores: then
	// no part of it scores as much as the whole.
	scores := func(b stats.Bottleneck) bool {
		for _, c := range list {
			p := &c.Pauses[0]
			for _, at := range []time.Duration{p.Start, p.End()} {
				if at > b.From && at < b.To && (score(b.From, at) <= 0 || score(at, b.To) <= 0) {
					return false
				}
			}
		}
		return true
	}
	var all []stats.Bottleneck
	for first := range list {
		for last := first; last < len(list); last++ {
			if b := of(first, last); scores(b) {
				all = append(all, b)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(b stats.Bottleneck) bool {
		return slices.ContainsFunc(all, func(o stats.Bottleneck) bool {
			return o != b && o.From <= b.From && o.To >= b.To
		})
	})
}

// TestRanking holds percentiles against sorting, and to collections that exist.
func TestRanking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := paused(t)
		var r stats.Ranking
		var pauses []time.Duration
		for _, c := range list {
			r.Add(c)
			pauses = append(pauses, c.Pauses[0].Duration)
		}
		r.Add(&gc.Collection{Number: 99}) // of an unknown pause
		slices.Sort(pauses)
		for _, p := range []float64{0, 50, 90, 99, 100} {
			got, longer, ok := r.Percentile(p)
			want := percentile(pauses, p)
			if !ok || got.Pause != want || list[got.Number-1].Pauses[0].Duration != want {
				t.Fatalf("p%v of %v: %+v", p, pauses, got)
			}
			n := 0
			for _, d := range pauses {
				if d >= want {
					n++
				}
			}
			if longer != n {
				t.Fatalf("p%v of %v: %d as long, want %d", p, pauses, longer, n)
			}
		}
	})
	if _, _, ok := new(stats.Ranking).Percentile(50); ok {
		t.Error("nothing has a percentile")
	}
}

// TestRankingOfMany holds the buckets to their width.
func TestRankingOfMany(t *testing.T) {
	var r stats.Ranking
	var pauses []time.Duration
	for i := range 50_000 {
		d := time.Duration(i*i*31 + i)
		pauses = append(pauses, d)
		r.Add(&gc.Collection{Number: uint32(i), AllPauses: true, Pauses: []gc.Pause{{Duration: d}}})
	}
	if r.Exact() || r.Count() != len(pauses) {
		t.Fatal("still exact, or collections are missing")
	}
	for _, p := range []float64{1, 50, 99, 99.9, 100} {
		got, longer, _ := r.Percentile(p)
		want := percentile(pauses, p)
		if got.Pause < want || float64(got.Pause-want) > float64(want)/512 || pauses[got.Number] != got.Pause {
			t.Errorf("p%v: %+v, want %v", p, got, want)
		}
		if n := len(pauses) - int(got.Number); longer != n {
			t.Errorf("p%v: %d as long, want %d", p, longer, n)
		}
	}
}
