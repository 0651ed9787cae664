package ledger_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/tracetest"
)

const mb = 1e6

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at returns the record of a second, with sizes in MB: resident memory, and the heap and
// committed memory at the latest collection, which left 16 MB to allocate.
func at(second int, rss, heap, committed int64) ledger.Record {
	return ledger.Record{
		Time: start.Add(time.Duration(second) * time.Second), RSS: gc.Some(rss * mb), Heap: gc.Some(heap * mb), Committed: gc.Some(committed * mb),
		Used: gc.Some(rss * mb), Limit: gc.Some(int64(512 * mb)), Gen2: gc.Some(heap * mb), Allocatable: gc.Some(int64(16 * mb)),
	}
}

// read is like at, for a second in which the GC heap was read from the system.
func read(second int, rss, heap, resident int64) ledger.Record {
	r := at(second, rss, heap, resident+5)
	r.HeapLeast, r.HeapMost, r.HeapCommitted = gc.Some(resident*mb), gc.Some(resident*mb), r.Committed
	return r
}

// attempt makes the latest collection of a record the last attempt before an
// OutOfMemoryException.
func attempt(r ledger.Record) ledger.Record {
	r.GC, r.OOMAttempt, r.HardLimit = gc.Some(int64(9)), gc.Some(int64(9)), gc.Some(int64(384*mb))
	return r
}

func create(t *testing.T) (*ledger.Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "web"+ledger.Suffix)
	w, err := ledger.Create(path, ledger.Process{PID: 7, Name: "web", Attached: start})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(nil) }) // for tests that do not end the process
	return w, path
}

func open(t *testing.T, path string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRing writes more records than there is room for, and several seconds twice.
func TestRing(t *testing.T) {
	w, path := create(t)
	const n = 1500
	for i := range n {
		for range 1 + i%2 {
			r := at(i, int64(i), 1, 2)
			if err := w.Put(&r); err != nil {
				t.Fatal(err)
			}
		}
		if i == 99 {
			if l := open(t, path); len(l.Records) != 100 || l.End != nil || l.Records[99].RSS.Or(0) != 99*mb {
				t.Errorf("while it is written, there are %d records", len(l.Records))
			}
		}
	}
	if err := w.Close(&ledger.End{Time: start.Add(n * time.Second), OOMKills: 1}); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	if len(l.Records) != ledger.Seconds || l.Records[0].RSS.Or(0) != (n-ledger.Seconds)*mb || l.Loss() != "" {
		t.Errorf("%d records from %v; %s", len(l.Records), l.Records[0].RSS, l.Loss())
	}
	if l.Name != "web" || l.PID != 7 || l.End == nil || l.End.OOMKills != 1 || l.Records[0].Anon.Known() {
		t.Errorf("%+v", l.Process)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != ledger.Size {
		t.Errorf("%v bytes, %v", info.Size(), err)
	}
}

// TestAgain writes two seconds in turns, as at the end of a process.
func TestAgain(t *testing.T) {
	w, path := create(t)
	for _, second := range []int{1, 2, 3, 2, 3, 2, 4, 3} {
		r := at(second, 1, 1, 1)
		if err := w.Put(&r); err != nil {
			t.Fatal(err)
		}
	}
	if l := open(t, path); len(l.Records) != 4 || l.Loss() != "" {
		t.Errorf("%d records; %s", len(l.Records), l.Loss())
	}
}

// TestGap checks that records from before a long gap are not shown among the latest.
func TestGap(t *testing.T) {
	w, path := create(t)
	for _, second := range []int{1, 2, 3, 1000} {
		r := at(second, 1, 1, 1)
		if err := w.Put(&r); err != nil {
			t.Fatal(err)
		}
	}
	if l := open(t, path); len(l.Records) != 1 {
		t.Errorf("%d records", len(l.Records))
	}
}

func TestVerdict(t *testing.T) {
	after := func(second int, e ledger.End) *ledger.End {
		e.Time = start.Add(time.Duration(second) * time.Second)
		return &e
	}
	killed, crashed, exited := after(4, ledger.End{OOMKills: 1}), after(4, ledger.End{}), after(4, ledger.End{Closed: true})
	aborted := after(4, ledger.End{Signal: 6})
	for _, tt := range []struct {
		name    string
		end     *ledger.End
		records []ledger.Record
		cause   ledger.Cause
		memory  ledger.Part
		says    string
	}{
		{
			"native grew", killed,
			[]ledger.Record{read(1, 280, 205, 240), read(2, 400, 210, 245), read(3, 512, 210, 250)},
			ledger.OOMKilled, ledger.Native,
			"killed by the kernel (out of memory) at 512 MB resident, 512 MB of the container's limit of 512 MB used: GC heap 250 MB resident (210 MB after the latest GC), native 262 MB: the GC is not the cause",
		},
		{"heap grew", killed, []ledger.Record{read(1, 200, 50, 60), read(2, 510, 350, 370)}, ledger.OOMKilled, ledger.Heap, "the GC heap is the cause"},
		{
			"more than gen 0 has room for", killed,
			[]ledger.Record{at(1, 100, 50, 60), at(2, 480, 50, 60), at(3, 500, 50, 60)},
			ledger.OOMKilled, ledger.Native, "native 424 MB to 450 MB: the GC is not the cause",
		},
		{
			"gen 0 of a large budget filled", killed,
			[]ledger.Record{budget(at(1, 100, 50, 60)), budget(at(2, 300, 50, 60)), budget(at(3, 310, 50, 60))},
			ledger.OOMKilled, ledger.Neither, "cannot tell which of them is the cause: up to 300 MB may be heap or native, such as objects allocated since the latest GC, and up to 212 MB came after the last record",
		},
		{"read, then gen 0 filled", killed, []ledger.Record{budget(read(1, 100, 50, 60)), budget(read(2, 500, 50, 450))}, ledger.OOMKilled, ledger.Heap, "the GC heap is the cause"},
		{"burst after the last record", killed, []ledger.Record{read(1, 100, 50, 60), read(2, 102, 50, 61)}, ledger.OOMKilled, ledger.Neither, "cannot tell which of them is the cause: up to 410 MB came after the last record"},
		{"the last record lacks the heap", killed, []ledger.Record{read(1, 100, 50, 60), read(2, 480, 50, 60), at(3, 500, 50, 60)}, ledger.OOMKilled, ledger.Native, "the GC is not the cause"},
		{"larger heap", killed, []ledger.Record{read(1, 500, 400, 430), read(2, 501, 400, 430)}, ledger.OOMKilled, ledger.Heap, "the GC heap is the cause"},
		{"larger native", crashed, []ledger.Record{read(1, 480, 40, 50), read(2, 481, 40, 50)}, ledger.Killed, ledger.Native, "(it may have been killed for that)"},
		{"an exception near the limit", aborted, []ledger.Record{read(1, 480, 40, 50), read(2, 481, 40, 50)}, ledger.Killed, ledger.Native, "by SIGABRT (an unhandled exception or FailFast) at 481 MB resident, 481 MB of the container's limit of 512 MB used: GC heap 50.0 MB resident (40.0 MB after the latest GC), native 431 MB\n"},
		{"not for memory", crashed, []ledger.Record{read(1, 48, 40, 45)}, ledger.Killed, ledger.Heap, "ended without shutting down at 48.0 MB resident, 48.0 MB of the container's limit of 512 MB used: GC heap 45.0 MB resident (40.0 MB after the latest GC), native 3.00 MB\n"},
		{"even", killed, []ledger.Record{read(1, 510, 240, 250)}, ledger.OOMKilled, ledger.Neither, "neither stands out"},
		{"committed, not resident", killed, []ledger.Record{at(1, 100, 90, 95), at(2, 490, 480, 600), at(3, 500, 490, 600), at(4, 510, 490, 600)}, ledger.OOMKilled, ledger.Heap, "native up to 20.0 MB"},
		{"out of memory", crashed, []ledger.Record{read(1, 200, 90, 95), attempt(read(2, 500, 360, 370))}, ledger.OutOfMemory, ledger.Heap, "ended without shutting down, after the last attempt before an OutOfMemoryException (GC 9), at 500 MB resident, 500 MB of the container's limit of 512 MB used: GC heap 370 MB resident (360 MB after the latest GC), native 130 MB; 375 MB of the GC heap's limit of 384 MB were committed\n"},
		{"out of memory, of arrays that were not written to", aborted, []ledger.Record{read(1, 100, 20, 20), read(2, 100, 370, 20), full(read(3, 100, 380, 20))}, ledger.Killed, ledger.Heap, "375 MB of the GC heap's limit of 384 MB were committed (an OutOfMemoryException may have ended it)\n"},
		{"out of memory, far from the limit", crashed, []ledger.Record{read(1, 200, 90, 95), attempt(read(2, 300, 190, 195))}, ledger.OutOfMemory, ledger.Neither, "native 105 MB\n"},
		{"out of memory, then killed", after(4, ledger.End{Signal: 9}), []ledger.Record{attempt(read(2, 300, 360, 170))}, ledger.Killed, ledger.Heap, "by SIGKILL"},
		{"out of memory, and caught", after(60, ledger.End{}), []ledger.Record{attempt(read(2, 300, 360, 170)), attempt(read(59, 300, 360, 170))}, ledger.Killed, ledger.Heap, "ended without shutting down at"},
		{"aborted, and the heap may have filled after the record", aborted, []ledger.Record{filling(read(1, 40, 80, 14))}, ledger.Killed, ledger.Neither, "GC heap 14.0 MB resident (80.0 MB after the latest GC), native 26.0 MB\n"},
		{"aborted, and the heap cannot have grown to as much", aborted, []ledger.Record{filling(read(1, 490, 30, 30))}, ledger.Killed, ledger.Native, "native 460 MB\n"},
		{"a heap that grew after the record that was read", after(4, ledger.End{Signal: 9}), []ledger.Record{read(1, 30, 4, 5), at(2, 88, 53, 71)}, ledger.Killed, ledger.Neither, "GC heap 53.0 MB after the latest GC (71.0 MB committed), native 1.00 MB to 84.0 MB\n"},
		{"exited", exited, []ledger.Record{read(1, 100, 90, 95)}, ledger.Exited, ledger.Heap, "exited at 100 MB"},
		{"running", nil, []ledger.Record{at(1, 100, 90, 95)}, ledger.Running, ledger.Heap, "running at"},
		{"no collection", crashed, []ledger.Record{{Time: start, RSS: gc.Some(int64(5 * mb))}}, ledger.Killed, ledger.Neither, "the size of the GC heap at that time is unknown"},
		{"resident before a burst", crashed, []ledger.Record{at(1, 30, 85, 88)}, ledger.Killed, ledger.Neither, "the size of the GC heap at that time is unknown"},
		{"nothing", crashed, nil, ledger.Killed, ledger.Neither, "the ledger has no record of its memory"},
	} {
		l := &ledger.Ledger{End: tt.end, Records: tt.records}
		v := l.Judge()
		if v.Cause != tt.cause || v.Memory != tt.memory || !strings.Contains(v.Sentence+"\n", tt.says) {
			t.Errorf("%s: %q, %q, %s", tt.name, v.Cause, v.Memory, v.Sentence)
		}
	}
}

// full returns a record whose GC heap has committed almost all of its limit.
func full(r ledger.Record) ledger.Record {
	r.HardLimit, r.HeapCommitted = gc.Some(int64(384*mb)), gc.Some(int64(375*mb))
	return r
}

// filling returns a record whose GC heap may grow to 384 MB.
func filling(r ledger.Record) ledger.Record {
	r.HardLimit = gc.Some(int64(384 * mb))
	return r
}

// budget gives a record a budget of 250 MB.
func budget(r ledger.Record) ledger.Record {
	r.Allocatable = gc.Some(int64(250 * mb))
	return r
}

// TestVersion1 reads a ledger as version 1 wrote it.
func TestVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "version1"+ledger.Suffix)
	if err := os.WriteFile(path, tracetest.Gunzip(t, "testdata/version1.ledger.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	if l.Name != "death" || len(l.Records) != 4 || l.Loss() != "" {
		t.Fatalf("%s, %d records; %s", l.Name, len(l.Records), l.Loss())
	}
	v := l.Judge()
	if v.Cause != ledger.OOMKilled || v.Last.Allocatable.Known() || v.Last.RSS.Or(0) == 0 || v.Last.Committed.Or(0) == 0 {
		t.Errorf("%q, %+v", v.Cause, v.Last)
	}
}

// TestVersion2 reads a ledger whose records have no numbers, so that only damage is
// known.
func TestVersion2(t *testing.T) {
	path, whole, records := endedLedger(t)
	copy(whole, "GCTRLDG2")
	text := whole[16 : 16+binary.LittleEndian.Uint32(whole[8:])]
	binary.LittleEndian.PutUint32(whole[12:], crc32.ChecksumIEEE(text))
	if l := rewritten(t, path, whole); l == nil || !slices.Equal(l.Records, records) || l.Loss() != "" {
		t.Fatalf("%+v", l)
	}
	whole[4096+int(records[0].Time.Unix()%ledger.Seconds)*320+8] ^= 1
	if l := rewritten(t, path, whole); l == nil || len(l.Records) != 19 || l.Lost != 1 {
		t.Errorf("with a flipped bit: %+v", l)
	}
}

// TestDamage truncates a ledger everywhere and overwrites its bytes: each record read
// equals the one written.
func TestDamage(t *testing.T) {
	path, whole, records := endedLedger(t)
	check := func(b []byte) {
		l := rewritten(t, path, b)
		if l == nil {
			return
		}
		for _, r := range l.Records {
			if !slices.Contains(records, r) {
				t.Errorf("read %+v", r)
			}
		}
		l.Judge()
	}
	for n := 0; n < len(whole); n += 997 {
		check(whole[:n])
		b := bytes.Clone(whole)
		b[n] ^= 0x55
		check(b)
	}
	check(bytes.Repeat([]byte{0xff}, ledger.Size))
	check(bytes.Clone(whole[:9]))
}

// endedLedger returns the bytes of a ledger of a process that ended, and its records.
func endedLedger(t *testing.T) (string, []byte, []ledger.Record) {
	t.Helper()
	w, path := create(t)
	for i := range 20 {
		r := at(i, int64(100+i), 50, 60)
		if err := w.Put(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(&ledger.End{Time: start}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, whole, open(t, path).Records
}

// rewritten reads a ledger from other bytes, nil if they are not one.
func rewritten(t *testing.T, path string, b []byte) *ledger.Ledger {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(path)
	if err != nil && !errors.Is(err, ledger.ErrFormat) {
		t.Fatal(err)
	}
	return l
}

// TestBits flips single bits, most of them in the records: no record is altered, and none
// is missing without being counted.
func TestBits(t *testing.T) {
	path, whole, records := endedLedger(t)
	random := rand.New(rand.NewPCG(1, 2))
	used := bytes.TrimRight(whole, "\x00")
	first := bytes.IndexFunc(whole[4096:], func(r rune) bool { return r != 0 }) + 4096
	for i := range 1500 {
		at := random.IntN(len(whole))
		switch i % 3 {
		case 0:
			at = random.IntN(4096)
		case 1:
			at = first + random.IntN(len(used)-first)
		}
		bit := byte(1) << random.IntN(8)
		whole[at] ^= bit
		l := rewritten(t, path, whole)
		whole[at] ^= bit
		if l == nil {
			continue // and so said
		}
		for _, r := range l.Records {
			if !slices.Contains(records, r) {
				t.Errorf("bit %#x of byte %d alters %+v", bit, at, r)
			}
		}
		if missing := len(records) - len(l.Records); missing > l.Lost || missing > 0 && !strings.Contains(l.Judge().Sentence, "damaged or missing") {
			t.Errorf("bit %#x of byte %d: %d records missing, %d said: %s", bit, at, missing, l.Lost, l.Judge().Sentence)
		}
	}
}

// TestMissing reads a file with records overwritten by zeros, and a file that ends early.
func TestMissing(t *testing.T) {
	path, whole, records := endedLedger(t)
	const record = 320
	begin := 4096 + int(records[0].Time.Unix()%ledger.Seconds)*record
	for _, test := range []struct{ from, n int }{{0, 20}, {3, 1}, {3, 7}, {19, 1}, {12, 8}, {1, 19}} {
		b := bytes.Clone(whole)
		clear(b[begin+test.from*record:][:test.n*record])
		if l := rewritten(t, path, b); l == nil || len(l.Records) != len(records)-test.n || l.Lost != test.n {
			t.Errorf("%d records from %d on are zero: %+v", test.n, test.from, l)
		}
	}
	l := rewritten(t, path, whole[:begin+5*record])
	if l == nil || len(l.Records) != 5 || l.Lost != 15 || !strings.HasSuffix(l.Judge().Sentence, "15 records of the last minutes are damaged or missing, and the file is truncated") {
		t.Errorf("cut: %+v", l)
	}
}

func TestList(t *testing.T) {
	folder := t.TempDir()
	for i, name := range []string{"a", "b"} {
		w, err := ledger.Create(filepath.Join(folder, name+ledger.Suffix), ledger.Process{Name: name, Attached: start.Add(time.Duration(i) * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "c"+ledger.Suffix), []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := ledger.List(folder)
	if len(all) != 2 || all[0].Name != "b" || !errors.Is(err, ledger.ErrFormat) {
		t.Errorf("%d ledgers, %v", len(all), err)
	}
}

func TestJSON(t *testing.T) {
	r := at(1, 100, 50, 60)
	var decoded map[string]any
	if err := json.Unmarshal(r.AppendJSON(nil), &decoded); err != nil {
		t.Fatal(err)
	}
	if len(decoded) != 38 || decoded["time"] != "2026-01-02T03:04:06Z" || decoded["committed_bytes"] != 60e6 ||
		decoded["native_bytes"] != nil || decoded["native_min_bytes"] != 24e6 || decoded["native_max_bytes"] != 50e6 {
		t.Errorf("%d keys: %v", len(decoded), decoded)
	}
	if v, has := decoded["anon_bytes"]; v != nil || !has {
		t.Errorf("an unknown figure is %v", v)
	}
}

func FuzzOpen(f *testing.F) {
	folder := f.TempDir()
	path := filepath.Join(folder, "x"+ledger.Suffix)
	w, err := ledger.Create(path, ledger.Process{Name: "x"})
	if err != nil {
		f.Fatal(err)
	}
	r := at(1, 1, 1, 1)
	if err := errors.Join(w.Put(&r), w.Close(nil)); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:8192])
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := ledger.Open(path); err == nil {
			l.Judge()
		}
	})
}
