package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
)

// A part is a mapping of a test: its number of pages, of resident ones, and its kind.
type part struct {
	pages, resident int
	kind            byte // 'c' committed by the GC, 'r' reserved by it, 'm' malloc's, 's' a stack, 'f' a file, ' ' none
}

// smapsOf returns the kernel's text for adjacent mappings, followed by the stack of the
// first thread.
func smapsOf(parts ...part) string {
	kinds := map[byte]struct{ access, rest, flags string }{
		'c': {"rw-p", "00:00 0", "rd wr mr mw me ac"}, 'r': {"---p", "00:00 0", "mr mw me dd"},
		'm': {"rw-p", "00:00 0", "rd wr mr mw me nr"}, 's': {"rw-p", "00:00 0", "rd wr mr mw me ac nh"},
		'f': {"rw-p", "fe:00 77 /lib/x.so", "rd wr mr mw me ac"},
	}
	var b strings.Builder
	at := 0x7f0000000000
	for _, p := range append(slices.Clip(parts), part{1 << 20, 0, ' '}, part{2, 2, 's'}) {
		if k, ok := kinds[p.kind]; ok {
			fmt.Fprintf(&b, "%x-%x %s 00000000 %s \nSize: %d kB\nRss:   %d kB\nVmFlags: %s \n", at, at+p.pages*page, k.access, k.rest, p.pages*4, p.resident*4, k.flags)
		}
		at += p.pages * page
	}
	return b.String()
}

// TestHeap finds the range of 1,000 pages that the GC has reserved.
func TestHeap(t *testing.T) {
	const pages, mapped = 1000, 4 << 10
	pagesOf := func(n int64) gc.Opt[int64] { return gc.Some(n * mapped) }
	heap := []part{{10, 8, 'c'}, {90, 0, 'r'}, {20, 20, 'c'}, {880, 0, 'r'}}
	tables := []part{{5, 3, 'c'}, {45, 0, 'r'}}
	with := func(before, after []part) []part {
		return append(append(append([]part{}, before...), heap...), after...)
	}
	for _, tt := range []struct {
		name  string
		parts []part
		want  Heap
	}{
		{"alone", with([]part{{50, 50, 'f'}}, []part{{64, 1, 'm'}}), Heap{pagesOf(28), pagesOf(28), pagesOf(30)}},
		{"between arenas of malloc", with([]part{{500, 9, 'm'}}, []part{{500, 9, 'm'}}), Heap{pagesOf(28), pagesOf(28), pagesOf(30)}},
		{"beside a stack", with([]part{{1, 0, ' '}, {500, 400, 's'}}, nil), Heap{pagesOf(28), pagesOf(28), pagesOf(30)}},
		// The first of the heap's pages may as well belong to the tables.
		{"behind the GC's tables", with(tables, nil), Heap{pagesOf(28), pagesOf(31), pagesOf(35)}},
		{"another reserved range of the size", append(with(nil, nil), part{9, 0, ' '}, part{pages, 0, 'r'}), Heap{pagesOf(28), pagesOf(28), pagesOf(30)}},
		{"of another size", []part{{10, 8, 'c'}, {30, 0, 'r'}, {20, 20, 'c'}, {100, 0, 'r'}}, Heap{}},
		{"in pieces", []part{{10, 8, 'c'}, {490, 0, 'r'}, {1, 1, 'f'}, {20, 20, 'c'}, {480, 0, 'r'}}, Heap{}},
		{"nothing", nil, Heap{}},
	} {
		r := newMemoryReader(tree(t, map[string]string{"proc/7/smaps": smapsOf(tt.parts...)}), 7)
		found := r.FindHeap(1<<38, pages*mapped-100)
		if got := r.ReadHeap(); got != tt.want || found != tt.want.Most.Known() {
			t.Errorf("%s: %v, %v; want %v", tt.name, found, got, tt.want)
		}
	}
}

// TestHeapLater lets native memory grow beside the heap after that was found.
func TestHeapLater(t *testing.T) {
	heap := []part{{10, 0, 'r'}, {20, 20, 'c'}, {20, 10, 'c'}, {950, 0, 'r'}}
	root := tree(t, map[string]string{"proc/7/smaps": smapsOf(append([]part{{600, 0, ' '}}, heap...)...)})
	r := newMemoryReader(root, 7)
	if !r.FindHeap(1000 * page) {
		t.Fatal("not found")
	}
	later := smapsOf(append([]part{{600, 600, 'c'}}, heap...)...)
	if err := os.WriteFile(filepath.Join(root, "proc/7/smaps"), []byte(later), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := r.ReadHeap(); got.Least != gc.Some(int64(30*page)) || got.Most != got.Least {
		t.Errorf("%v", got)
	}
}

// TestHeapBefore bounds the heap at the time when resident memory was read, a while before
// the heap.
func TestHeapBefore(t *testing.T) {
	some := gc.Some[int64]
	h := Heap{some(20), some(30), some(40)}
	for growth, want := range map[int64]Heap{
		0: h, 5: {some(15), some(30), some(40)}, 25: {some(0), some(30), some(40)}, -5: {some(20), some(35), some(40)},
	} {
		if got := h.Before(growth); got != want {
			t.Errorf("%v before %d, want %v", got, growth, want)
		}
	}
	if got := (Heap{}).Before(-5); got != (Heap{}) {
		t.Errorf("%v of an unknown heap", got)
	}
}

// TestHeapOfKilled reads a list that ends in the heap, as it does while the kernel is
// killing the process.
func TestHeapOfKilled(t *testing.T) {
	whole := smapsOf(part{10, 8, 'c'}, part{90, 0, 'r'}, part{20, 20, 'c'}, part{880, 0, 'r'})
	root := tree(t, map[string]string{"proc/7/smaps": whole})
	r := newMemoryReader(root, 7)
	if !r.FindHeap(1000*page) || !r.ReadHeap().Most.Known() {
		t.Fatal("not found")
	}
	for i, c := range whole {
		if c != '\n' || i == len(whole)-1 {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, "proc/7/smaps"), []byte(whole[:i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := r.ReadHeap(); got != (Heap{}) {
			t.Errorf("%v of\n%s", got, whole[:i+1])
		}
	}
}

// TestHeapHostile reads files without any usable content.
func TestHeapHostile(t *testing.T) {
	for _, text := range []string{
		"", "nonsense\n", "10-5 rw-p 0 00:00 0\nVmFlags: rd\n", "zz-ff rw-p 0 00:00 0\nRss: 9999999999999999999 kB\nVmFlags:\n",
		"1000-ffffffffffffffff rw-p 00000000 00:00 0\nRss: x kB\nVmFlags: dd", strings.Repeat("x", 1<<17),
	} {
		r := newMemoryReader(tree(t, map[string]string{"proc/7/smaps": text}), 7)
		if r.FindHeap(0, 4096, 1<<38) || r.ReadHeap() != (Heap{}) {
			t.Errorf("%.40q: %v", text, r.heap)
		}
	}
}

// TestKillsSince kills a process of a container, whose cgroup is removed afterwards.
func TestKillsSince(t *testing.T) {
	const pod = "sys/fs/cgroup/kubepods/pod1/"
	events := func(kills int) string { return fmt.Sprintf("low 0\noom 9\noom_kill %d\n", kills) }
	for _, tt := range []struct {
		name    string
		removed bool
		own     int
		above   int
		want    gc.Opt[int64]
	}{
		{"none", false, 2, 5, gc.Some(int64(0))},
		{"in its own", false, 3, 6, gc.Some(int64(1))},
		{"in another container", false, 2, 6, gc.Some(int64(0))},
		{"in its own, which is gone", true, 0, 6, gc.Some(int64(1))},
		{"none, and it is gone", true, 0, 5, gc.Some(int64(0))},
	} {
		root := tree(t, map[string]string{
			"proc/7/status": status, "proc/7/cgroup": "0::/kubepods/pod1/box\n",
			pod + "box/memory.current": "4000\n", pod + "box/memory.events": events(2), pod + "memory.events": events(5),
		})
		r := newMemoryReader(root, 7)
		if n := r.KillsSince(); n.Known() {
			t.Errorf("%s: %v before it was read", tt.name, n)
		}
		if _, err := r.Read(true); err != nil {
			t.Fatal(err)
		}
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(root, pod, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("memory.events", events(tt.above))
		if write("box/memory.events", events(tt.own)); tt.removed {
			if err := os.RemoveAll(filepath.Join(root, pod, "box")); err != nil {
				t.Fatal(err)
			}
		}
		if n := r.KillsSince(); n != tt.want {
			t.Errorf("%s: %v kills, want %v", tt.name, n, tt.want)
		}
	}
}
