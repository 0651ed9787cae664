//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// suspected returns the sentences of objects about the suspects in files, and their confidence.
func suspected(t *testing.T, files ...string) (said, confidence []string) {
	t.Helper()
	code, out, complaint := gctrail(t.Context(), append([]string{"objects", "--format", "json"}, files...)...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, complaint)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var doc struct {
		Snapshots []struct {
			Suspects []struct{ Says, Confidence string }
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Snapshots[len(doc.Snapshots)-1].Suspects {
		said, confidence = append(said, s.Says), append(confidence, s.Confidence)
	}
	return said, confidence
}

// TestLeaks takes snapshots of programs that leak, and of programs that fill a cache: what
// holds the growth is the only suspect, and a cache that is full is none.
func TestLeaks(t *testing.T) {
	for i, mode := range slices.Sorted(maps.Keys(leaks)) {
		if !extent.Due(i, 3) {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			holdLeak(t, mode, leaks[mode])
		})
	}
}

const ofOrders = "orders (static) → System.Collections.Generic.List`1[Shop.Order] → Shop.Order[] → "

// leaks are the modes of the program, and what holds the growth; empty where nothing leaks.
var leaks = map[string]string{
	"static": "one object: sessions (static) → System.Collections.Generic.Dictionary`2[System.String,Shop.Session] → Entry[System.String,Shop.Session][] → %s × Shop.Session, ",
	"event":  "one object: feed (static) → Shop.Feed → System.EventHandler → System.Object[] → %s × System.EventHandler → Shop.View, ",
	"timer":  "System.Threading.TimerQueue → %s × System.Threading.TimerQueueTimer → System.Threading.TimerCallback → Shop.Poller, ",
	"table":  "one object: " + ofOrders + "%s × Shop.Order → Shop.Audit (by a dependent handle, as of a ConditionalWeakTable), ",
	"async":  "one object: shutdown (static) → System.Threading.CancellationTokenSource → Registrations → %s × CallbackNode → System.Threading.ExecutionContext → OneElementAsyncLocalValueMap → Shop.Request, ",
	"handle": "%s objects of one type: a strong handle → Shop.Buffer, ",
	"lru":    "", "once": "", "churn": "",
	"unsubscribed": "",
}

// holdLeak takes five snapshots of a program, and compares the suspects with what holds the growth.
func holdLeak(t *testing.T, mode, holds string) {
	t.Helper()
	program := dotnettest.StartLeaks(t, mode)
	folder := t.TempDir()
	var files []string
	for i := range 5 {
		program.Grow()
		files = append(files, filepath.Join(folder, strconv.Itoa(i)+".nettrace"))
		if code, _, said := gctrail(t.Context(), "dump", "--yes", "-p", strconv.Itoa(program.PID), "-o", files[i]); code != exitDone {
			t.Fatalf("exit code %d: %s", code, said)
		}
	}
	for _, c := range []struct {
		from, to   int
		confidence string
	}{{0, 2, "medium"}, {0, 3, "high"}, {2, 4, "medium"}, {2, 5, "high"}} {
		said, confidence := suspected(t, files[c.from:c.to]...)
		count := fmt.Sprintf("%d,000", 2*c.to)
		switch {
		case holds != "":
			if len(said) != 1 || !strings.Contains(said[0], fmt.Sprintf(holds, count)) || confidence[0] != c.confidence {
				t.Errorf("%v: %q, confidence %v", c, said, confidence)
			}
		case c.to == 2 && mode != "unsubscribed": // it is still filled
			if len(said) != 1 || !strings.HasSuffix(said[0], "which do not show whether it still grows") {
				t.Errorf("%v: %q", c, said)
			}
		case len(said) > 0: // it has become full before the last snapshot
			t.Errorf("%v: %q", c, said)
		}
	}
}
