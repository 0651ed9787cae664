package etl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// decompress decodes src into n bytes, in pieces of at most inPiece and outPiece bytes,
// with only the history that a reader keeps.
func decompress(src []byte, n, inPiece, outPiece int) ([]byte, error) {
	var x xpress
	var all, dst []byte
	for len(all) < n {
		keep := min(len(dst), xpressWindow)
		dst = append(dst[:0], dst[len(dst)-keep:]...)
		more := min(outPiece, n-len(all))
		dst = append(dst, make([]byte, more)...)
		for out := keep; out < len(dst); {
			in := src[:min(inPiece, len(src))]
			got, used, err := x.decode(dst, out, in, len(in) == len(src))
			all = append(all, dst[out:got]...)
			src = src[used:]
			if err != nil {
				return all, err
			}
			if got == out && used == 0 {
				return all, errShort
			}
			out = got
		}
	}
	return all, nil
}

var errShort = errors.New("short")

// texts returns inputs of every sort of match.
func texts() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	mixed := []byte{}
	for len(mixed) < 200_000 {
		if n := 3 + rnd.IntN(400); rnd.IntN(3) > 0 && len(mixed) > n {
			from := len(mixed) - n - rnd.IntN(min(len(mixed)-n, 9000)+1)
			mixed = append(mixed, mixed[max(from, 0):][:n]...)
		}
		mixed = append(mixed, noise[:rnd.IntN(40)]...)
		noise = append(noise[40:], noise[:40]...)
	}
	words := []byte{}
	for i := range 20_000 {
		words = fmt.Appendf(words, "event %d of thread %d; ", i, i%7)
	}
	return map[string][]byte{
		"empty": nil, "one byte": {7}, "noise": noise, "zeros": make([]byte, 300_000), "mixed": mixed, "words": words,
		"period 2": bytes.Repeat([]byte("ab"), 5000), "period 7": bytes.Repeat([]byte("abcdefg"), 5000),
		"period 8": bytes.Repeat([]byte("abcdefgh"), 5000), "period 100": bytes.Repeat(noise[:100], 500),
	}
}

func TestXPRESS(t *testing.T) {
	for name, want := range texts() {
		t.Run(name, func(t *testing.T) {
			packed := tracetest.CompressXpress(nil, want)
			if slow, ok := tracetest.DecompressXpress(packed, len(want)); !ok || !bytes.Equal(slow, want) {
				t.Fatal("the test's own decoder does not read it")
			}
			for _, pieces := range [][2]int{{1 << 30, 1 << 30}, {1 << 16, 1 << 18}, {100, 1 << 30}, {1 << 30, 1000}, {15, 1}, {77, 333}} {
				got, err := decompress(packed, len(want), pieces[0], pieces[1])
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("in pieces of %v: %v, %d bytes of %d", pieces, err, len(got), len(want))
				}
			}
			for range 50 {
				n := rand.IntN(len(packed) + 1)
				got, _ := decompress(packed[:n], len(want), 1<<30, 1<<30)
				if !bytes.HasPrefix(want, got) {
					t.Errorf("cut at %d: no prefix", n)
				}
			}
		})
	}
}

// A stream is flags followed by literals and matches.
func stream(flags uint32, rest ...byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, flags), rest...)
}

func TestXPRESSTokens(t *testing.T) {
	const far = 1 << 29 // flags: two literals, then a match
	for _, c := range []struct {
		name string
		src  []byte
		n    int // of the output
		want string
		err  error
	}{
		{"literals", stream(0, []byte("abc")...), 3, "abc", nil},
		{"unused flags at the end", stream(0, []byte("abc\x00\x00\x00\x00")...), 3, "abc", nil},
		{"match", stream(far, 'a', 'b', 1<<3, 0), 5, "ababa", nil},
		{"match of one byte back", stream(far, 'a', 'b', 0<<3|2, 0), 7, "abbbbbb", nil},
		{"match longer than the output", stream(far, 'a', 'b', 1<<3|6, 0), 4, "abab", nil},
		{"half a byte", stream(far, 'a', 'b', 1<<3|7, 0, 0x02), 14, "abababababab" + "ab", nil},
		{"length of a byte", stream(far, 'a', 'b', 7, 0, 0x0f, 1), 28, "ab" + string(bytes.Repeat([]byte("b"), 26)), nil},
		{"length of two bytes", stream(far, 'a', 'b', 7, 0, 0x0f, 255, 30, 0), 35, "ab" + string(bytes.Repeat([]byte("b"), 33)), nil},
		{"length of four bytes", stream(far, 'a', 'b', 7, 0, 0x0f, 255, 0, 0, 30, 0, 0, 0), 35, "ab" + string(bytes.Repeat([]byte("b"), 33)), nil},
		{"length that claims terabytes", stream(far, 'a', 'b', 7, 0, 0x0f, 255, 0, 0, 255, 255, 255, 255), 10, "abbbbbbbbb", nil},
		{"length that should be shorter", stream(far, 'a', 'b', 7, 0, 0x0f, 255, 21, 0), 35, "ab", trace.ErrMalformed},
		{"before the start", stream(far, 'a', 'b', 2<<3, 0), 9, "ab", trace.ErrMalformed},
		{"nothing", nil, 3, "", errShort},
		{"flags only", stream(0), 3, "", errShort},
		{"half a match", stream(far, 'a', 'b', 1), 5, "ab", errShort},
		{"match without its length", stream(far, 'a', 'b', 7, 0, 0x0f, 255, 30), 35, "ab", errShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, padded := range []int{0, 100} { // the slow and the fast loop
				if padded > 0 && errors.Is(c.err, errShort) {
					continue
				}
				src := append(bytes.Clone(c.src), make([]byte, padded)...)
				dst := make([]byte, c.n, c.n+64)
				guard := dst[c.n:cap(dst)]
				var x xpress
				n, _, err := x.decode(dst, 0, src, true)
				if err == nil && n < c.n {
					err = errShort
				}
				if string(dst[:n]) != c.want || !errors.Is(err, c.err) {
					t.Errorf("%q, %v; want %q, %v", dst[:n], err, c.want, c.err)
				}
				if !bytes.Equal(guard, make([]byte, len(guard))) {
					t.Error("written beyond the output")
				}
			}
		})
	}
}

// FuzzXPRESS decodes anything, whole and in pieces. Both must agree with each other and
// with a simple decoder.
func FuzzXPRESS(f *testing.F) {
	for _, text := range texts() {
		f.Add(tracetest.CompressXpress(nil, text[:min(len(text), 5000)]), uint16(min(len(text), 5000)), uint8(20), uint8(30))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16, in, out uint8) {
		size := int(n)
		whole, err := decompress(src, size, 1<<30, 1<<30)
		pieces, err2 := decompress(src, size, max(int(in), maxToken), max(int(out), 1))
		if !bytes.Equal(whole, pieces) || (err == nil) != (err2 == nil) {
			t.Fatalf("%d bytes, %v; in pieces %d, %v", len(whole), err, len(pieces), err2)
		}
		slow, ok := tracetest.DecompressXpress(src, size)
		if ok != (err == nil) || ok && !bytes.Equal(whole, slow) {
			t.Fatalf("%d bytes, %v; the simple way %d, %v", len(whole), err, len(slow), ok)
		}
	})
}

func BenchmarkXPRESS(b *testing.B) {
	want := texts()["words"][:1<<16]
	packed := tracetest.CompressXpress(nil, want)
	dst := make([]byte, len(want))
	b.SetBytes(int64(len(want)))
	b.ReportMetric(float64(len(want))/float64(len(packed)), "ratio")
	for b.Loop() {
		var x xpress
		if n, _, err := x.decode(dst, 0, packed, true); n != len(want) || err != nil {
			b.Fatal(n, err)
		}
	}
}
