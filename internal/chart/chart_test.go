package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// collection returns one with a pause, and with all generations after it of n bytes.
func collection(at, pause time.Duration, generation int, n int64) *gc.Collection {
	c := &gc.Collection{
		Generation: gc.Some(generation), Kind: gc.Blocking, Start: gc.Some(at), End: gc.Some(at + pause), AllPauses: true,
		Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: pause}}, CommittedAfter: gc.Some(8 * n), Allocated: gc.Some(n),
	}
	for _, name := range gc.GenerationNames() {
		c.Generations = append(c.Generations, gc.Generation{Name: name, After: gc.Some(n)})
	}
	return c
}

// of returns the rectangles of a color outside of legends.
func (p *picture) of(c color) (all []rect) {
	for _, r := range p.rects {
		if r.color == c && (r.w != 10 || r.h != 10) {
			all = append(all, r)
		}
	}
	return all
}

// Bars are as high as pauses are long, and sizes lie on top of each other.
func TestPicture(t *testing.T) {
	var s Series
	s.Add(collection(time.Second, 30*time.Millisecond, 2, 1e6))
	s.Add(collection(3*time.Second, 10*time.Millisecond, 0, 2e6))
	p := s.draw("title", "below", 0, 4*time.Second)
	long, brief := p.of(colorGen2), p.of(colorGen0)
	if long[0].h != 150 || math.Abs(brief[0].h-50) > 1e-9 {
		t.Errorf("bars of %v and %v pixels for 30 and 10 ms, of 150", long[0].h, brief[0].h)
	}
	if x := marginLeft + plotWidth/4.0; math.Abs(long[0].x-x) > 2 {
		t.Errorf("1 s of 4 is at %v, expected %v", long[0].x, x)
	}
	heap, above := p.of(colorGen0)[1:], p.of(colorGen1)
	if len(heap) != 2 || len(above) != 2 || math.Abs(heap[1].h-2*heap[0].h) > 1e-9 {
		t.Fatalf("gen 0 is %v, gen 1 %v", heap, above)
	}
	for i := range heap {
		if bottom := heap[i].y + heap[i].h; math.Abs(bottom-above[i].y) > 1e-9 {
			t.Errorf("gen 0 ends at %v, gen 1 begins at %v", bottom, above[i].y)
		}
	}
	if committed := p.of(colorCommitted); len(committed) != 2 || committed[1].y >= committed[0].y {
		t.Errorf("committed is %v", committed)
	}
	for _, r := range p.rects {
		if r.x < 0 || r.y < 0 || r.x+r.w > float64(p.width) || r.y+r.h > float64(p.height) {
			t.Errorf("%+v is outside of %d x %d", r, p.width, p.height)
		}
	}
}

// TestRate: bytes that are allocated evenly are an even rate, however collections fall into the
// columns of the picture, and a part of the time has the same rate.
func TestRate(t *testing.T) {
	var s Series
	for at := time.Second; at < 9*time.Second; at += 17 * time.Millisecond {
		c := collection(at, time.Millisecond, 0, 17_000)
		s.Add(c)
		c.Start = gc.Some(at - time.Millisecond) // a background GC that began before, and counts nothing
		c.Allocated = gc.Some(int64(0))
		s.Add(c)
	}
	for _, span := range [][2]time.Duration{{0, 10 * time.Second}, {4 * time.Second, 5 * time.Second}, {4 * time.Second, 4*time.Second + 20*time.Millisecond}} {
		bars := s.draw("", "", span[0], span[1]).of(colorRate)
		if len(bars) < 200 {
			t.Fatalf("%v: %d bars", span, len(bars))
		}
		const edge = 2 // the first and the last one begin and end within a column
		for _, bar := range bars[edge : len(bars)-edge] {
			if bar.h != bars[edge].h && math.Abs(bar.h/bars[edge].h-1) > 1e-6 {
				t.Fatalf("%v: bars of %v and %v pixels", span, bar.h, bars[edge].h)
			}
		}
	}
}

// TestPageColors: the picture has the page's colors.
func TestPageColors(t *testing.T) {
	style, err := os.ReadFile("../../web/src/base.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, _ := strings.Cut(string(style), "--page: #12161c")
	for c, name := range map[color]string{
		colorGen0: "gen0", colorGen1: "gen1", colorGen2: "gen2", colorBackground: "background",
		colorLOH: "loh", colorPOH: "poh", colorCommitted: "text", colorRate: "accent",
	} {
		if want := fmt.Sprintf("--%s: #%06x;", name, palette[c].light); !strings.Contains(light, want) {
			t.Errorf("the page has no %s", want)
		}
		if want := fmt.Sprintf("--%s: #%06x;", name, palette[c].dark); !strings.Contains(dark, want) {
			t.Errorf("the dark page has no %s", want)
		}
	}
}

// A panel without figures says so.
func TestNothingKnown(t *testing.T) {
	missing := func(p *picture) (n int) {
		for _, text := range p.texts {
			if text.text == "not in this trace" {
				n++
			}
		}
		return n
	}
	var s Series
	if n := missing(s.draw("", "", 0, time.Second)); n != 3 {
		t.Errorf("%d panels of 3 say so", n)
	}
	c := collection(time.Second, time.Millisecond, 0, 1)
	c.Generations, c.CommittedAfter = nil, gc.Opt[int64]{}
	s.Add(c)
	c.Start = gc.Some(1500 * time.Millisecond)
	s.Add(c)
	if n := missing(s.draw("", "", 0, 2*time.Second)); n != 1 {
		t.Errorf("%d panels of 1 say so", n)
	}
}

// However long a trace is, a bounded number of cells holds it, and the longest pause
// and all bytes allocated stay.
func TestLongSeries(t *testing.T) {
	var s Series
	for i := range 100_000 {
		s.Add(collection(time.Duration(i)*time.Second, time.Duration(i%1000)*time.Microsecond, i%3, 1))
	}
	var longest time.Duration
	allocated := 0.0
	for i := range s.cells {
		allocated += s.cells[i].allocated
		for _, p := range s.cells[i].pauses {
			longest = max(longest, p)
		}
	}
	if len(s.cells) > cells || longest != 999*time.Microsecond || math.Abs(allocated-99_999) > 1e-3 { // of the first, it is not known since when
		t.Errorf("%d cells, longest %v, %v bytes", len(s.cells), longest, allocated)
	}
}

// Both formats are read by others, whatever the title is, and if there is
// nothing.
func TestFormats(t *testing.T) {
	var one Series
	one.Add(collection(time.Second, time.Millisecond, 1, 1e6))
	for _, s := range []*Series{{}, &one} {
		for _, title := range []string{"web", "<&\"\x1b[31m\xff" + strings.Repeat("é", 300), ""} {
			for _, to := range []time.Duration{0, time.Nanosecond, 2 * time.Second, math.MaxInt64} {
				var svg, picture bytes.Buffer
				if err := errors.Join(s.WriteSVG(&svg, title, title, 0, to), s.WritePNG(&picture, title, title, 0, to)); err != nil {
					t.Fatal(err)
				}
				d := xml.NewDecoder(&svg)
				for {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%q: %v", title, err)
					}
				}
				if strings.Contains(svg.String(), "\x1b") {
					t.Errorf("%q has controls", title)
				}
				img, err := png.Decode(&picture)
				if err != nil || img.Bounds().Dx() != pictureWidth {
					t.Fatalf("%v, error %v", img.Bounds(), err)
				}
			}
		}
	}
}
