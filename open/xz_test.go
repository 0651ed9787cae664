package open_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// xzed is b as an .xz file with a check of some type.
func xzed(t *testing.T, b []byte, check byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := xz.WriterConfig{CheckSum: check}.NewWriter(&out)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestXZ reads a trace in .xz files with each type of check, of one stream and of
// two, whole and damaged.
func TestXZ(t *testing.T) {
	bare := plain(t)
	summarize := func(b []byte) string {
		return summary(t, func() (*open.Input, error) { return open.Reader(bytes.NewReader(b), "x", open.Options{}) })
	}
	want := summarize(bare)
	for _, check := range []byte{xz.CRC32, xz.CRC64, xz.SHA256} {
		if got := summarize(xzed(t, bare, check)); got != want {
			t.Errorf("check %d: %s, want %s", check, got, want)
		}
	}
	half := len(bare) / 2
	two := append(append(xzed(t, bare[:half], xz.CRC32), 0, 0, 0, 0), xzed(t, bare[half:], xz.CRC64)...)
	if got := summarize(two); got != want {
		t.Errorf("two streams: %s, want %s", got, want)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 { // no panic, whatever is flipped
		b := bytes.Clone(two)
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		in, err := open.Reader(bytes.NewReader(b), "flipped", open.Options{})
		if err != nil {
			continue
		}
		for range in.Source.Events() {
			continue
		}
		in.Close()
	}
}

// TestXZDictionary reads a block that asks for a dictionary of 4 GiB.
func TestXZDictionary(t *testing.T) {
	b := xzed(t, plain(t), xz.CRC32)
	header := b[12 : 12+4*(int(b[12])+1)]
	i := bytes.IndexByte(header[2:], 0x21) + 4
	header[i] = 40
	body := header[:len(header)-4]
	binary.LittleEndian.PutUint32(header[len(body):], crc32.ChecksumIEEE(body))
	_, err := open.Reader(bytes.NewReader(b), "huge", open.Options{})
	if want := "huge: not supported: xz with a dictionary of more than 64 MiB; "; !errors.Is(err, trace.ErrUnsupported) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
