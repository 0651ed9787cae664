package watch

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// numbersOf returns the numbers of the whole collections of a trace, which must be whole
// itself except for its last sequence point.
func numbersOf(t *testing.T, trace []byte) []uint32 {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(trace), nettrace.Options{Want: gc.Wants})
	var model gc.Model
	var numbers []uint32
	for c, err := range model.Collections(r) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Complete {
			numbers = append(numbers, c.Number)
		}
	}
	if _, end := r.Whole(); end != nil || r.Loss().Damaged > 0 || r.Loss().Events > 0 {
		t.Errorf("the trace is not whole: %+v", r.Loss())
	}
	return numbers
}

// save receives a trace in parts, and saves the part retained within a limit.
func save(t *testing.T, trace []byte, part, limit int) ([]byte, *recording) {
	t.Helper()
	w := New(Options{})
	r := &row{id: 1}
	w.rows = append(w.rows, r)
	for b := trace; len(b) > 0; b = b[min(part, len(b)):] {
		r.trace.add(b[:min(part, len(b))], limit)
		if len(r.trace.data) > limit+part {
			t.Fatalf("%d bytes are kept, the limit is %d", len(r.trace.data), limit)
		}
	}
	var out bytes.Buffer
	if n, err := w.Save(1, &out); err != nil || n != out.Len() {
		t.Fatalf("%d of %d bytes: %v", n, out.Len(), err)
	}
	return out.Bytes(), &r.trace
}

// TestSave: the saved file is a whole trace, however much was received, and whatever was
// cut off its beginning.
func TestSave(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")
	saved, r := save(t, whole, 1000, len(whole))
	if all := numbersOf(t, saved); r.cut || !bytes.HasPrefix(saved, whole[:len(saved)-100]) || len(all) < 50 {
		t.Errorf("%d bytes saved, of %d: collections %v", len(saved), len(whole), all)
	}
	for _, limit := range []int{len(whole) / 3, len(whole) / 2, len(whole) - 1} {
		for _, part := range []int{333, 4096} {
			for size := len(whole); size > len(whole)*8/10; size -= 997 {
				saved, r := save(t, whole[:size], part, limit)
				if !r.cut && size > limit || r.full {
					t.Fatalf("limit %d, parts of %d: cut %v, full %v", limit, part, r.cut, r.full)
				}
				numbers := numbersOf(t, saved)
				if n := len(numbers); n < 5 || int(numbers[n-1]-numbers[0]) > n+2 {
					t.Fatalf("limit %d, parts of %d, %d bytes: collections %v", limit, part, size, numbers)
				}
			}
		}
	}
}

// TestShortenAnywhere shortens a trace at each place near the ends of objects:
// what arrives later continues it, though the trace was cut between an object
// and its end tag.
func TestShortenAnywhere(t *testing.T) {
	killed := tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")
	whole, _ := save(t, killed, len(killed), len(killed))
	in := eventpipe.NewObjectReader(bytes.NewReader(whole))
	for {
		if _, err := in.Next(); err != nil {
			break
		}
		end := int(in.Offset())
		if end < len(whole)/2 {
			continue
		}
		for at := end - 2; at <= min(end+2, len(whole)); at++ {
			r := recording{data: bytes.Clone(whole[:at])}
			r.shorten()
			if r.full {
				t.Fatalf("at %d, %d before the object's end: not shortened", at, end-at)
			}
			r.add(whole[at:], len(whole))
			if numbers := numbersOf(t, r.data); len(numbers) < 5 {
				t.Fatalf("at %d, %d before the object's end: collections %v", at, end-at, numbers)
			}
		}
	}
}

// TestSaveNoTrace: input that is not a trace is retained up to the limit only.
func TestSaveNoTrace(t *testing.T) {
	var r recording
	for range 100 {
		r.add(bytes.Repeat([]byte("no trace"), 100), 10_000)
	}
	if !r.full || len(r.data) > 10_000 {
		t.Errorf("%d bytes are kept", len(r.data))
	}
}

// TestSaveSettled: however much was received, every complete collection of a snapshot
// equals the whole trace's, except for the last ones, because the bytes freed by a
// background collection are known only when later ones have begun.
func TestSaveSettled(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")
	lines := func(data []byte) map[uint32]string {
		r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{})
		all := map[uint32]string{}
		var m gc.Model
		for c, err := range m.Collections(r) {
			if err != nil {
				t.Fatal(err)
			}
			c.Process.Name, c.Process.Runtime = "", ""
			if c.Complete {
				all[c.Number] = string(jsonl.AppendCollection(nil, r.Info().Start, c))
			}
		}
		return all
	}
	want, on, most := lines(whole), true, 0
	for size := len(whole) * 9 / 10; size > len(whole)/3; size -= 613 {
		w := New(Options{})
		r := &row{id: 1}
		r.trace.add(whole[:size], len(whole))
		r.trace.came = time.Now().Add(time.Hour)
		w.rows = append(w.rows, r)
		var received, out bytes.Buffer
		if _, err := w.Save(1, &received); err != nil {
			t.Fatal(err)
		}
		if err := collect.WriteSnapshot(&out, received.Bytes(), &collect.Description{CommandLine: "web", Runtime: "10.0.12", Server: &on}); err != nil {
			t.Fatal(err)
		}
		got := lines(out.Bytes())
		most = max(most, len(got))
		last := slices.Max(slices.Collect(maps.Keys(got)))
		for n, line := range got {
			if line != want[n] && n+3 < last {
				t.Fatalf("%d bytes, collection %d:\n%s\nwant\n%s", size, n, line, want[n])
			}
		}
	}
	if most < 40 {
		t.Errorf("at most %d collections", most)
	}
}
