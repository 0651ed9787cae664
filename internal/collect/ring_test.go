package collect

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// newRing returns a ring that reports a full disk to say, which may be nil.
func newRing(t *testing.T, path string, limits Limits, say func(string)) *Ring {
	t.Helper()
	r, err := NewRing(path, limits)
	if err != nil {
		t.Fatal(err)
	}
	if say != nil {
		r.Say = say
	}
	return r
}

// fill gives a trace to a ring, some objects at a time.
func (r *Ring) fill(t *testing.T, b []byte, rnd *rand.Rand) {
	t.Helper()
	in := eventpipe.NewObjectReader(bytes.NewReader(b))
	start := int64(0)
	for n := 0; ; n++ {
		if _, err := in.Next(); err != nil {
			if _, err := r.Write(b[start:], nil); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			break
		}
		if end := in.Offset() + 1; rnd.IntN(4) == 0 {
			if _, err := r.Write(b[start:end], nil); err != nil {
				t.Fatal(err)
			}
			start = end
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// collectionsIn returns the collections in a trace, with times relative to the start of
// another trace.
func collectionsIn(t *testing.T, b []byte, since time.Time) ([]*gc.Collection, *nettrace.Reader) {
	t.Helper()
	all, r := dotnettest.Collections(t, b)
	if since.IsZero() {
		return all, r
	}
	later := r.Info().Start.Sub(since)
	for _, c := range all {
		for _, t := range []*gc.Opt[time.Duration]{&c.Start, &c.End, &c.PauseStart} {
			if v, ok := t.Get(); ok {
				*t = gc.Some(v + later)
			}
		}
		for i := range c.Pauses {
			c.Pauses[i].Start += later
		}
		for i := range c.Outside {
			c.Outside[i].From += later
			c.Outside[i].To += later
		}
	}
	return all, r
}

// mustEnd checks that a trace has its end mark.
func mustEnd(t *testing.T, trace []byte) {
	t.Helper()
	_, r := collectionsIn(t, trace, time.Time{})
	if size, end := r.Whole(); end != nil || size != int64(len(trace)) {
		t.Errorf("%d of %d bytes are whole, end %v", size, len(trace), end)
	}
}

var sameFigures = gocmp.Options{
	cmpopts.IgnoreUnexported(gc.Collection{}, gc.Pause{}), cmpopts.IgnoreFields(gc.Collection{}, "Process", "ClrInstance"), cmpopts.EquateEmpty(),
	gocmp.Exporter(func(t reflect.Type) bool { return strings.HasPrefix(t.Name(), "Opt[") }),
}

// TestRing puts real traces through rings of many sizes. The collections in the file
// equal the whole trace's, figure by figure, from the requested time or the oldest that
// there was room for. Nothing counts as lost, the runtime is known, and no segment is
// left. Only the first collection's figures about the time before it are unknown.
func TestRing(t *testing.T) {
	paths := []string{
		"../../testdata/net10-wks-web-collect.nettrace.gz", "../../testdata/net10-wks-background-collect.nettrace.gz",
		"../../testdata/net10-wks-induced-collect.nettrace.gz", "../../testdata/net9-srv-datas-web-collect.nettrace.gz",
		"../../testdata/net10-killed-web.nettrace.gz", "../../testdata/net30-win-x64-survival.nettrace.gz",
	}
	shared := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", "eventpipe")
	for _, name := range []string{"net8-wks-all-verbose", "net8-srv-all-collect", "net10-wks-stacks", "real-aspnet-datas"} {
		path := filepath.Join(shared, name+".nettrace.gz")
		if _, err := os.Stat(path); err == nil && extent.All() {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		t.Run(name, func(t *testing.T) {
			whole := tracetest.Gunzip(t, path)
			all, full := collectionsIn(t, whole, time.Time{})
			rnd := rand.New(rand.NewPCG(1, uint64(len(whole))))
			compared := 0
			rounds := 8
			if len(whole) > 3_000_000 {
				rounds = 2
			}
			for n := range rounds {
				compared += checkRing(t, whole, all, full, n == 0, rnd)
			}
			if compared < 20 {
				t.Errorf("only %d collections of %d were compared", compared, len(all))
			}
		})
	}
}

// TestRingTime checks that a ring with room for a whole trace keeps the last part of it
// that its time limit asks for, and hardly more.
func TestRingTime(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")
	_, full := collectionsIn(t, whole, time.Time{})
	last := full.Info().Last
	for _, share := range []time.Duration{4, 2} {
		limits := Limits{Size: 2 * int64(len(whole)), Time: last / share}
		r := newRing(t, filepath.Join(t.TempDir(), "kept.nettrace"), limits, func(text string) { t.Error(text) })
		r.fill(t, whole, rand.New(rand.NewPCG(1, 1)))
		_, kept := collectionsIn(t, r.joined(t), time.Time{})
		begins := kept.Info().Start.Sub(full.Info().Start)
		if asked := last - limits.Time; begins > asked || begins < asked/2 {
			t.Errorf("of %v, the last %v were asked for: the file begins at %v", last, limits.Time, begins)
		}
	}
}

// checkRing puts a trace through a ring, which may be large enough for all of it, and
// returns the number of collections in the file.
func checkRing(t *testing.T, whole []byte, all []*gc.Collection, full *nettrace.Reader, large bool, rnd *rand.Rand) int {
	t.Helper()
	dir := t.TempDir()
	limits := Limits{Size: int64(len(whole)/8 + rnd.IntN(len(whole)))}
	if large {
		limits.Size *= 8
	} else if rnd.IntN(3) == 0 {
		limits.Time = time.Duration(rnd.Int64N(int64(full.Info().Last)))
	}
	r := newRing(t, filepath.Join(dir, "kept.nettrace"), limits, func(text string) { t.Error(text) })
	r.fill(t, whole, rnd)
	if over := r.size - limits.Size; over > 110_000 {
		t.Errorf("%+v: the ring has %d bytes too much", limits, over)
	}
	from := time.Duration(rnd.Int64N(int64(full.Info().Last)))
	if large {
		from /= 4
	}
	out, err := r.JoinFrom(from)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v are left, %v", entries, err)
	}
	b, err := os.ReadFile(out.name)
	if err != nil || int64(len(b)) != out.size+1 {
		t.Fatalf("%d bytes, %d were written, %v", len(b), out.size, err)
	}
	got, kept := collectionsIn(t, b, full.Info().Start)
	if l := kept.Loss(); l.Events > full.Loss().Events || l.Damaged > 0 || l.Late > 0 || l.Truncated != full.Loss().Truncated {
		t.Errorf("from %v: %+v", from, l)
	}
	start := kept.Info().Start.Sub(full.Info().Start)
	if limits.Time > 0 {
		from = max(from, full.Info().Last-limits.Time)
	}
	if !r.cut && start > from {
		t.Errorf("there was room for what is from %v on, it is from %v", from, start)
	}
	return compareKept(t, start, got, all)
}

// edge is how many of the first collections may lack figures that depend on earlier ones:
// one, and the ones inside a background collection that began before.
const edge = 4

// knownElse returns a figure, or want if it is unknown.
func knownElse[T any](v, want gc.Opt[T]) gc.Opt[T] {
	if !v.Known() {
		return want
	}
	return v
}

// compareKept compares the collections in a ring's file with the whole trace's.
func compareKept(t *testing.T, start time.Duration, got, all []*gc.Collection) int {
	t.Helper()
	begun := slices.IndexFunc(got, func(c *gc.Collection) bool { return c.Start.Known() })
	if begun < 0 {
		return 0
	}
	compared := 0
	for _, want := range all {
		if !want.Start.Known() || want.Start.Or(0) < got[begun].Start.Or(0) {
			continue
		}
		i := slices.IndexFunc(got, func(c *gc.Collection) bool { return c.Number == want.Number && c.Start == want.Start })
		if i < 0 {
			t.Errorf("collection %d, at %v, is missing from %v on", want.Number, want.Start.Or(0), start)
			continue
		}
		c := got[i]
		if i < begun+edge {
			c.SinceLast = knownElse(c.SinceLast, want.SinceLast)
			c.Outside = want.Outside // some before the cut; pauses of a background collection that began there are taken for such
			if !c.Allocated.Known() {
				c.Allocated, c.AllocatedQuality, c.AllocatedLow, c.AllocatedHigh = want.Allocated, want.AllocatedQuality, want.AllocatedLow, want.AllocatedHigh
			}
		}
		if i == begun && c.AllocatedTicks.Or(0) < want.AllocatedTicks.Or(0) {
			c.AllocatedTicks = want.AllocatedTicks // its ticks before the cut
		}
		compareBytes(t, c, want)
		if diff := gocmp.Diff(want, c, sameFigures); diff != "" {
			t.Errorf("collection %d (%dth of the file, from %v on): %s", want.Number, i+1, start, diff)
		}
		if c.Process.Runtime != want.Process.Runtime {
			t.Errorf("collection %d: runtime %q, want %q", want.Number, c.Process.Runtime, want.Process.Runtime)
		}
		compared++
	}
	return compared
}

// compareBytes compares the bytes allocated and freed of a ring's collection with the
// whole trace's, and replaces values that may differ. Across the sweep of a background
// collection they are estimates, because they depend on the share of granted memory that
// became objects so far in the trace. A ring has seen less of it, so its estimates differ
// a little, and may be lower bounds. Exact figures are the same.
func compareBytes(t *testing.T, got, want *gc.Collection) {
	t.Helper()
	granted := want.Allocated.Or(0)
	compareSure(t, got, "allocated", &got.Allocated, want.Allocated, got.AllocatedQuality, want.AllocatedQuality, granted)
	compareSure(t, got, "freed", &got.Freed, want.Freed, got.FreedQuality, want.FreedQuality, granted)
	for i := range min(len(got.Generations), len(want.Generations)) {
		freed, is := &got.Generations[i].Freed, got.FreedQuality
		if i == 1 || i == 2 {
			is = gc.Exact // they rest on no ratio
		}
		compareSure(t, got, got.Generations[i].Name+" freed", freed, want.Generations[i].Freed, is, min(is, want.FreedQuality), granted)
	}
	if got.AllocatedQuality != gc.Exact || want.AllocatedQuality != gc.Exact {
		got.AllocatedLow, got.AllocatedHigh = want.AllocatedLow, want.AllocatedHigh
	}
	if got.FreedQuality != gc.Exact || want.FreedQuality != gc.Exact {
		if got.FreedLow.Or(0) > got.Freed.Or(0) {
			t.Errorf("collection %d: at least %d of %d bytes freed", got.Number, got.FreedLow.Or(0), got.Freed.Or(0))
		}
		got.FreedLow = want.FreedLow
	}
	got.AllocatedQuality, got.FreedQuality = want.AllocatedQuality, want.FreedQuality
}

// compareSure compares a figure in bytes as far as its certainty promises, and then
// replaces it by the whole trace's.
func compareSure(t *testing.T, c *gc.Collection, name string, got *gc.Opt[int64], want gc.Opt[int64], gotIs, wantIs gc.Certainty, granted int64) {
	t.Helper()
	near := granted / 10
	switch {
	case gotIs < wantIs:
		t.Errorf("collection %d: %s is %v, of the whole trace only %v", c.Number, name, gotIs, wantIs)
	case *got == want:
	case !got.Known() || !want.Known() || gotIs == gc.Exact:
		t.Errorf("collection %d: %s %v (%v), want %v (%v)", c.Number, name, *got, gotIs, want, wantIs)
	case got.Or(0) > want.Or(0)+near, gotIs == gc.Estimate && got.Or(0) < want.Or(0)-near:
		t.Errorf("collection %d: %s %d (%v) is far from %d (%v)", c.Number, name, got.Or(0), gotIs, want.Or(0), wantIs)
	}
	*got = want
}

// A fullDisk has room for so many bytes in all files of a folder.
type fullDisk struct {
	dir  string
	room int64
}

// free is Ring.free for the disk.
func (d *fullDisk) free() (int64, bool) { return max(0, d.room-d.used(nil)), true }

// used returns how much all files but one have.
func (d *fullDisk) used(but os.FileInfo) (size int64) {
	entries, _ := os.ReadDir(d.dir)
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(d.dir, e.Name())); err == nil && (but == nil || !os.SameFile(info, but)) {
			size += info.Size()
		}
	}
	return size
}

// create is CreateFile on the disk.
func (d *fullDisk) create(path string) (*File, error) { return d.on(CreateFile(path)) }

// open is openSegment on the disk.
func (d *fullDisk) open(path string, flag int) (*File, error) {
	return d.on(openSegment(path, flag))
}

func (d *fullDisk) on(out *File, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	info, err := out.disk.(interface{ Stat() (os.FileInfo, error) }).Stat()
	out.disk = diskFile{out.disk, d, info}
	return out, err
}

type diskFile struct {
	Disk
	disk *fullDisk
	info os.FileInfo
}

func (f diskFile) WriteAt(p []byte, off int64) (int, error) {
	room := f.disk.room - f.disk.used(f.info)
	fits := min(int64(len(p)), max(0, room-off))
	n, err := f.Disk.WriteAt(p[:fits], off)
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

// TestRingFull: a full disk shortens the ring, and is reported. The file remains correct.
func TestRingFull(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net30-win-x64-survival.nettrace.gz")
	all, full := collectionsIn(t, whole, time.Time{})
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, part := range []int64{3, 4, 6} {
		var said []string
		dir := t.TempDir()
		r := newRing(t, filepath.Join(dir, "kept.nettrace"), Limits{Size: 2e6}, func(text string) { said = append(said, text) })
		disk := &fullDisk{dir, int64(len(whole)) / part}
		r.create, r.open = disk.create, disk.open
		r.fill(t, whole, rnd)
		b := r.joined(t)
		got, kept := collectionsIn(t, b, full.Info().Start)
		start := kept.Info().Start.Sub(full.Info().Start)
		if int64(len(b)) < disk.room/3 || kept.Loss().Events > 0 || kept.Loss().Damaged > 0 || kept.Loss().Truncated {
			t.Errorf("%d bytes with room for %d, %+v", len(b), disk.room, kept.Loss())
		}
		compareKept(t, start, got, all)
		if len(said) == 0 || !strings.Contains(said[0], "the disk is full, the ring is shortened to") {
			t.Error(said)
		}
	}
}

// joined joins the whole ring, and returns the file.
func (r *Ring) joined(t *testing.T) []byte {
	t.Helper()
	out, err := r.JoinLast(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out.name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRingSmallDisk: a ring with a limit far above the room on its disk keeps as much as
// fits.
func TestRingSmallDisk(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net30-win-x64-survival.nettrace.gz")
	all, full := collectionsIn(t, whole, time.Time{})
	dir := t.TempDir()
	r := newRing(t, filepath.Join(dir, "kept.nettrace"), Limits{Size: 1e9}, nil)
	disk := &fullDisk{dir, int64(len(whole)) / 4}
	r.create, r.open, r.free = disk.create, disk.open, disk.free
	r.fill(t, whole, rand.New(rand.NewPCG(1, 6)))
	b := r.joined(t)
	got, kept := collectionsIn(t, b, full.Info().Start)
	if int64(len(b)) < disk.room/3 || kept.Loss().Events > 0 || kept.Loss().Damaged > 0 || kept.Loss().Truncated {
		t.Errorf("%d bytes with room for %d, %+v", len(b), disk.room, kept.Loss())
	}
	compareKept(t, kept.Info().Start.Sub(full.Info().Start), got, all)
}

// TestRingDiskTaken: when other programs fill the disk while a ring has one segment, the
// ring continues with as much as fits, and reports that.
func TestRingDiskTaken(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net30-win-x64-survival.nettrace.gz")
	all, full := collectionsIn(t, whole, time.Time{})
	for _, closed := range []bool{false, true} {
		var said []string
		dir := t.TempDir()
		r := newRing(t, filepath.Join(dir, "kept.nettrace"), Limits{Size: 1e9}, func(text string) { said = append(said, text) })
		disk := &fullDisk{dir, 1e9}
		r.create, r.open, r.free = disk.create, disk.open, disk.free
		taken := int64(0)
		in := eventpipe.NewObjectReader(bytes.NewReader(whole))
		for start := int64(0); start < int64(len(whole)); {
			_, err := in.Next()
			end := in.Offset() + 1
			if err != nil {
				end = int64(len(whole))
			}
			if taken == 0 && start > int64(len(whole))/2 {
				if len(r.segments) != 1 {
					t.Fatalf("%d segments", len(r.segments))
				}
				disk.room = disk.used(nil)
				taken = disk.room
				if closed {
					r.longest = 0 // the next event block begins a segment, for which there is no room
				}
			}
			if _, err := r.Write(whole[start:end], nil); err != nil {
				t.Fatal(err)
			}
			start = end
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		b := r.joined(t)
		got, kept := collectionsIn(t, b, full.Info().Start)
		if int64(len(b)) < taken/4 || int64(len(b)) > taken || kept.Loss().Events > 0 || kept.Loss().Damaged > 0 || kept.Loss().Truncated {
			t.Errorf("%d bytes with room for %d, %+v", len(b), taken, kept.Loss())
		}
		compareKept(t, kept.Info().Start.Sub(full.Info().Start), got, all)
		if len(said) == 0 || !strings.Contains(said[0], "the disk is full, the ring is shortened to") {
			t.Error(said)
		}
	}
}

// TestRingFullHeld: on a full disk, held segments are joined, not the latest ones.
func TestRingFullHeld(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net30-win-x64-survival.nettrace.gz")
	var said []string
	dir := t.TempDir()
	r := newRing(t, filepath.Join(dir, "kept.nettrace"), Limits{Size: 5e6}, func(text string) { said = append(said, text) })
	r.fill(t, whole, rand.New(rand.NewPCG(1, 5)))
	r.Hold(0)
	disk := &fullDisk{dir, r.size + 10_000}
	r.create, r.open = disk.create, disk.open
	out, err := r.JoinLast(0)
	if err != nil || len(said) == 0 || !strings.Contains(said[0], "shortened at its end by") {
		t.Fatalf("%v, %v", err, said)
	}
	b, err := os.ReadFile(out.name)
	if err != nil {
		t.Fatal(err)
	}
	all, full := collectionsIn(t, whole, time.Time{})
	got, kept := collectionsIn(t, b, full.Info().Start)
	if len(got) < 100 || len(got) == len(all) || got[0].Number != all[0].Number || !kept.Loss().Truncated {
		t.Errorf("%d collections of %d, from %d on, cut %t", len(got), len(all), got[0].Number, kept.Loss().Truncated)
	}
}

// TestRingHolds: held segments are not dropped, and the ring reports that it overruns.
func TestRingHolds(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-wks-induced-collect.nettrace.gz")
	r := newRing(t, filepath.Join(t.TempDir(), "kept.nettrace"), Limits{Size: 100_000}, nil)
	overruns := 0
	r.Overrun = func() { overruns++ }
	r.held = 1
	r.fill(t, whole, rand.New(rand.NewPCG(1, 3)))
	out, err := r.JoinLast(0)
	if err != nil || overruns == 0 || out.size+1 < int64(len(whole)) {
		t.Errorf("%v, %d overruns, %d bytes of %d", err, overruns, out.size, len(whole))
	}

	// Events before a held time do not count as too old, either, however long the held
	// part gets.
	r = newRing(t, filepath.Join(t.TempDir(), "kept.nettrace"), Limits{Size: 5e6, Time: time.Millisecond}, func(text string) { t.Error(text) })
	r.Overrun = func() { t.Error("it overruns") }
	r.held = ^uint64(0)
	r.fill(t, whole, rand.New(rand.NewPCG(1, 3)))
	if out, err = r.JoinLast(0); err != nil || out.size+1 < int64(len(whole)) {
		t.Errorf("%v, %d bytes of %d", err, out.size, len(whole))
	}
}

// TestRingLeft: segments that cannot be joined stay, as traces, and the names of an
// earlier ring's segments are not used again.
func TestRingLeft(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
	dir := t.TempDir()
	path := filepath.Join(dir, "kept.nettrace")
	old := filepath.Join(dir, "kept.ring-0002.nettrace")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRing(t, path, Limits{Size: 400_000}, nil)
	r.fill(t, whole, rand.New(rand.NewPCG(1, 4)))
	had := len(r.segments)
	disk := &fullDisk{dir, 0}
	r.create, r.open = disk.create, disk.open
	_, err := r.JoinLast(0)
	if !errors.Is(err, syscall.ENOSPC) || len(r.segments) != had-maxShortened {
		t.Fatalf("%v, left of %d: %q", err, had, r.Left())
	}
	for _, path := range r.Left() {
		b, err := os.ReadFile(path)
		if err != nil || path == old {
			t.Fatal(path, err)
		}
		if len(b) > 0 {
			mustEnd(t, b)
		}
	}
	if err := r.Remove(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestRingRefused: if no file can be made, the error comes at once.
func TestRingRefused(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing", "a.nettrace")} {
		if _, err := NewRing(path, Limits{Size: 1e6}); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
	there := filepath.Join(dir, "there.nettrace")
	if err := os.WriteFile(there, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRing(there, Limits{Size: 1e6}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(there); err != nil || string(b) != "kept" {
		t.Errorf("%q, %v", b, err)
	}
}
