package profiler_test

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/profiler"
)

// A share is a type that a program allocates: how many of 100 objects are of it, and their
// size.
type share struct {
	typ    string
	number float64
	size   float64
}

// programs are the modes of shares.cs. Objects have a header and a method table of 8 bytes
// each, arrays also a length, and sizes are multiples of 8 bytes.
var programs = map[string]struct {
	types  []share
	method string // that allocates most
}{
	"orders": {[]share{{"Shop.Line", 70, 40}, {"Shop.Order", 20, 40}, {"Shop.Line[]", 20, 56}, {"Shop.Receipt", 10, 24}}, "Program.AddLine()"},
	"text":   {[]share{{"System.String", 50, 224}, {"System.Char[]", 30, 128}, {"System.Int32[]", 20, 64}}, "Program.Copy()"},
	"files":  {[]share{{"System.Byte[]", 80, 8024}, {"System.Int64[]", 18, 8024}, {"System.Byte[] (large)", 2, 200024}}, "Program.ReadBlock()"},
	"calls":  {[]share{{"System.Int32", 50, 24}, {"Shop.Point", 20, 32}, {"System.Action", 30, 64}}, "Program.Subscribe(class Shop.Handler)"},
}

// Sums are the bytes of a program's profiles.
type sums struct {
	all     float64
	types   map[string]float64
	methods map[string]float64 // of the program, innermost
}

func (s *sums) add(p *pprof.Profile) {
	for _, sample := range p.Sample {
		bytes := float64(sample.Value[1])
		s.all += bytes
		for i, l := range sample.Location {
			name := l.Line[0].Function.Name
			if i == 0 {
				s.types[strings.TrimPrefix(name, "Type ")] += bytes
				continue
			}
			if strings.HasPrefix(name, "Program.") {
				s.methods[name] += bytes
				break
			}
			if name == "?" { // code that is newer than the list of methods, perhaps of the program
				break
			}
		}
	}
}

// enough is how many bytes of a program are compared: some 1,000 samples.
const enough = 100e6

func (s *sums) enough() bool {
	named := 0.0
	for _, bytes := range s.methods {
		named += bytes
	}
	return named >= enough
}

// TestShares profiles four programs at once, under each runtime: .NET 10 samples, .NET 8 and 9
// raise ticks. Each type has its share of the bytes, within its sampling error, and the right
// type and method are on top.
func TestShares(t *testing.T) {
	for _, version := range dotnettest.Due(t) {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			for mode, s := range profiled(t, version) {
				check(t, mode, s)
			}
		})
	}
}

// profiled returns the profiles of all programs.
func profiled(t *testing.T, version int) map[string]*sums {
	const rate = 80 // so that none rests
	all := make(map[string]*sums)
	pushes, done := make(chan func(), 1), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		of, p, err := pushed(r)
		if err != nil {
			t.Error(err)
			return
		}
		select {
		case pushes <- func() { all[of].add(p) }:
		case <-done:
		}
	}))
	defer receiver.Close()
	p, ctx, end := started(t, receiver.URL, 500*time.Millisecond)
	defer func() { close(done); end() }()
	for mode := range programs {
		all[mode] = &sums{types: make(map[string]float64), methods: make(map[string]float64)}
		program := dotnettest.StartShares(t, version, mode, rate)
		p.Attach(ctx, program.PID, &profiler.Subject{Process: processOf(t, program.PID), Service: mode})
	}
	deadline := time.After(dotnettest.Patience)
	for {
		select {
		case add := <-pushes:
			add()
		case <-deadline:
			t.Fatalf("no profiles: %+v", p.Stats())
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(s *sums) bool { return !s.enough() }) {
			return all
		}
	}
}

// check compares the profiles of a program with its shares.
func check(t *testing.T, mode string, s *sums) {
	t.Helper()
	of := programs[mode]
	var total float64
	for _, share := range of.types {
		total += share.number * share.size
	}
	top := slices.MaxFunc(of.types, func(a, b share) int { return cmp.Compare(a.number*a.size, b.number*b.size) }).typ
	if got := largest(s.types); got != top {
		t.Errorf("%s: type %s is on top, want %s", mode, got, top)
	}
	if got := largest(s.methods); got != of.method {
		t.Errorf("%s: method %s is on top, want %s", mode, got, of.method)
	}
	for _, share := range of.types {
		// So many standard deviations are exceeded once in a million runs.
		const most, interval = 5, 102_400
		p, got := share.number*share.size/total, s.types[share.typ]/s.all
		deviation := math.Sqrt(p * (1 - p) * max(interval, share.size) / s.all)
		t.Logf("%s: %s %.2f %%, want %.2f %%: %+.1f standard deviations", mode, share.typ, 100*got, 100*p, (got-p)/deviation)
		if math.Abs(got-p) > most*deviation {
			t.Errorf("%s: %s has %.2f %% of the bytes, want %.2f %%", mode, share.typ, 100*got, 100*p)
		}
	}
}

func largest(of map[string]float64) (top string) {
	for name := range of {
		if top == "" || of[name] > of[top] {
			top = name
		}
	}
	return top
}
