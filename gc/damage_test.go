package gc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// The damage tests read fixtures cut at many lengths, and with single bits
// flipped.
const (
	damageBytes = 2 << 20 // of each fixture
	everyLength = 64 << 10
)

// damageFixtures returns the first part of each trace in testdata.
func damageFixtures(t *testing.T) map[string][]byte {
	paths, err := filepath.Glob("../testdata/*.net*.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	fixtures := make(map[string][]byte)
	for _, path := range paths {
		b := tracetest.Gunzip(t, path)
		fixtures[strings.TrimSuffix(filepath.Base(path), ".gz")] = b[:min(len(b), damageBytes)]
	}
	paths, err = filepath.Glob("../testdata/*.etl.zip")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no ETW fixtures: %v", err)
	}
	for _, path := range paths {
		b := tracetest.Unzipped(t, path)
		fixtures[strings.TrimSuffix(filepath.Base(path), ".zip")] = b[:min(len(b), damageBytes)]
	}
	return fixtures
}

// A reading holds the complete collections read from a damaged trace.
type reading map[collectionKey]gc.Collection

type collectionKey struct {
	pid    uint64
	number uint32
}

// read reads a trace of the format that its fixture has.
func read(name string, b []byte) reading {
	var src trace.Source = nettrace.NewReader(bytes.NewReader(b), nettrace.Options{Want: gc.Wants, Stacks: true})
	if strings.HasSuffix(name, ".etl") {
		src = etl.NewReader(bytes.NewReader(b), int64(len(b)), etl.Options{Want: gc.Wants, Stacks: true})
	}
	var m gc.Model
	got := make(reading)
	for c := range m.Collections(src) {
		if c == nil {
			continue
		}
		if err := impossible(c); err != nil {
			panic(err)
		}
		if !c.Complete {
			continue
		}
		got[collectionKey{c.Process.PID, c.Number}] = *c
	}
	return got
}

// includes says in which collection r differs from what an undamaged part of
// the trace says. Not compared is what the rest of a trace adds to a collection,
// nor what the part itself calls doubtful: the last events of some threads may
// be missing from it.
func (r reading) includes(part reading) error {
	for key, want := range part {
		if want.AffectedByLoss {
			continue
		}
		got, ok := r[key]
		if !ok {
			return fmt.Errorf("collection %v is gone", key)
		}
		g, w := reflect.ValueOf(got), reflect.ValueOf(want)
		for i, field := range reflect.VisibleFields(g.Type()) {
			if (field.Name == "Freed" || field.Name == "FreedLow") && want.FreedQuality != gc.Exact || strings.HasPrefix(field.Name, "Allocated") && want.AllocatedQuality != gc.Exact {
				continue // later events add to the collection
			}
			a, b := known(field, g.Field(i)), known(field, w.Field(i))
			if a == nil && got.AffectedByLoss { // taken back, for a damaged sequence number looks like a loss
				continue
			}
			if b != nil && !reflect.DeepEqual(a, b) {
				return fmt.Errorf("collection %v: %s is %+v, was %+v", key, field.Name, a, b)
			}
		}
	}
	return nil
}

// known returns the value of a collection's field, or nil if it is unknown or
// depends on what follows the collection.
func known(field reflect.StructField, v reflect.Value) any {
	switch {
	case !field.IsExported():
		return nil
	case v.Kind() == reflect.Struct && !v.Interface().(interface{ Known() bool }).Known():
		return nil
	case v.Kind() == reflect.Slice && v.Len() == 0: // nil or not
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	}
	switch field.Name {
	case "Process", "AllocatedTicks", "AffectedByLoss", "FreedQuality", "AllocatedQuality":
		return nil
	case "Generations":
		generations := slices.Clone(v.Interface().([]gc.Generation))
		for i := range generations[:min(2, len(generations))] {
			generations[i].Freed = gc.Opt[int64]{}
		}
		return generations
	case "Pauses":
		pauses := slices.Clone(v.Interface().([]gc.Pause))
		for i := range pauses {
			pauses[i].Restart = gc.Opt[time.Duration]{}
		}
		return pauses
	}
	return v.Interface()
}

// each runs f for 0 to n-1 on all processors.
func each(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

func TestCutAnywhere(t *testing.T) {
	for name, b := range damageFixtures(t) {
		t.Run(name, func(t *testing.T) {
			whole := read(name, b)
			head := min(everyLength, len(b))
			step := extent.Pick(4001, 1009, 1)
			first := extent.Turn() % 4 * 257 % step // another one in each turn
			each((head-first)/step, func(i int) {
				at := first + i*step
				if err := whole.includes(read(name, b[:at])); err != nil {
					t.Errorf("cut at %d: %v", at, err)
				}
			})
			places := extent.Pick(5, 20, 2000)
			each(places, func(i int) {
				n := head + (len(b)-head)*i/places
				if err := whole.includes(read(name, b[:n])); err != nil {
					t.Errorf("cut at %d: %v", n, err)
				}
			})
		})
	}
}

func TestFlipAnywhere(t *testing.T) {
	fixtures := damageFixtures(t)
	for name, b := range fixtures {
		t.Run(name, func(t *testing.T) {
			each(extent.Pick(200, 800, 100_000)/len(fixtures), func(i int) {
				rnd := rand.New(rand.NewPCG(uint64(i), uint64(len(b))))
				at, bit := rnd.IntN(len(b)), rnd.IntN(8)
				damaged := bytes.Clone(b)
				damaged[at] ^= 1 << bit
				if err := read(name, damaged).includes(read(name, b[:at])); err != nil {
					t.Errorf("bit %d of byte %d flipped: %v", bit, at, err)
				}
			})
		})
	}
}
