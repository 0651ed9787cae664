package jsonl_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/nettrace"
)

// impossible returns the first number in a decoded line that no collection has.
func impossible(key string, v any) error {
	switch v := v.(type) {
	case float64:
		if v < 0 || strings.HasSuffix(key, "_pct") && v > 100 || strings.HasSuffix(key, "bytes") && v >= 1<<50 {
			return fmt.Errorf("%s is %v", key, v)
		}
	case []any:
		for _, e := range v {
			if err := impossible(key, e); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, e := range v {
			if err := impossible(key, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flipped bits yield no line with a figure that cannot be.
func TestDamagedLines(t *testing.T) {
	for _, name := range []string{"net10-killed-web", "net9-srv-datas-web-collect", "net10-wks-background-collect"} {
		f, err := os.Open("../../testdata/" + name + ".nettrace.gz")
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := io.ReadAll(io.LimitReader(z, 256<<10))
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range extent.Pick(15, 60, 60) {
			rnd := rand.New(rand.NewPCG(uint64(i), 10))
			damaged := bytes.Clone(whole)
			for range 1 + i%20 {
				damaged[rnd.IntN(len(damaged))] ^= 1 << rnd.IntN(8)
			}
			var m gc.Model
			for c := range m.Collections(nettrace.NewReader(bytes.NewReader(damaged), nettrace.Options{Want: gc.Wants})) {
				if c == nil {
					continue
				}
				var line map[string]any
				parse(t, jsonl.AppendCollection(nil, time.Time{}, c), &line)
				if err := impossible("", line); err != nil {
					t.Errorf("%s, seed %d, collection %d: %v", name, i, c.Number, err)
				}
			}
		}
	}
}
