package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/internal/web"
	"github.com/gctrail/gctrail/live"
	"github.com/gctrail/gctrail/open"
)

// TestAllSayTheSame: collect, top, serve and report say the same of one trace. collect
// prints the beginning of the report of its file, and the others its verdict.
func TestAllSayTheSame(t *testing.T) {
	t.Parallel()
	traces, err := filepath.Glob("../../testdata/net*.nettrace.gz")
	if err != nil || len(traces) == 0 {
		t.Fatal("no traces", err)
	}
	for _, path := range traces {
		switch {
		case !strings.Contains(path, "-collect.") && !strings.Contains(path, "-web"):
			continue
		case strings.Contains(path, "-sampler"): // no session of gctrail has the CPU samples by which a report explains suspensions
			continue
		case strings.Contains(path, "-highmem"): // GCHighMemPercent, by which each GC is counted, comes at the end of a trace
			continue
		case !extent.Sampled(path, 3):
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			file, talk := filepath.Join(t.TempDir(), "web.nettrace"), new(bytes.Buffer)
			o := newCollectOptions()
			o.output = file
			data := tracetest.Gunzip(t, path)
			if err := o.gather(t.Context(), &stdio{out: io.Discard, err: text.NewPrinter(talk)}, listen(t, dotnettest.NewRuntime(data, nil))); err != nil {
				t.Fatal(err)
			}
			_, said, _ := strings.Cut(talk.String(), " of events\n")
			said, _, _ = strings.Cut(said, "  $ gctrail ")
			for strings.HasPrefix(said, "gctrail: ") {
				_, said, _ = strings.Cut(said, "\n")
			}
			if out, _, _ := on(t, 0, "report", file); !strings.HasPrefix(flat(out), flat(said)) || !strings.Contains(said, "Allocated") {
				t.Errorf("collect says\n%s\nreport says\n%.600s", said, out)
			}
			verdict := reported(t, file)
			for name, says := range map[string]func(*testing.T, watch.Source) string{"top": topSays, "serve": serveSays} {
				// A busy machine may take long from the last event to the end.
				const attempts = 5
				for i := range attempts {
					if got := says(t, replayed(t, file, data)); got == verdict {
						break
					} else if i == attempts-1 {
						t.Errorf("%s says %q\nreport says %q", name, got, verdict)
					}
				}
			}
		})
	}
}

// flat joins the lines of a text with single spaces.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// reported returns the verdict of the report of a file.
func reported(t *testing.T, file string) string {
	t.Helper()
	out, _, code := on(t, 0, "report", "--format", "json", file)
	var report struct{ Verdict string }
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Verdict == "" {
		t.Fatal(code, err, out)
	}
	return report.Verdict
}

// replayed returns a source with one process that sends a trace, as if the trace had
// happened just now.
func replayed(t *testing.T, file string, data []byte) watch.Source {
	t.Helper()
	in, err := open.File(file, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var m gc.Model
	for _, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
	}
	running, stopped := []*diag.Process{listen(t, dotnettest.NewRuntime(data, nil))}, m.Processes()[0].Stopped
	return watch.Source{
		List: func(context.Context) []*diag.Process {
			defer func() { running = nil }() // it ends, and would be followed again
			return running
		},
		Follow: func(ctx context.Context, p *diag.Process, opts live.Options) iter.Seq2[*live.Update, error] {
			return func(yield func(*live.Update, error) bool) {
				var updates []*live.Update
				for u, err := range live.Follow(ctx, p, opts) {
					if err != nil {
						yield(nil, err)
						return
					}
					updates = append(updates, u)
				}
				for _, u := range updates {
					u.Start = time.Now().Add(-stopped)
					if !yield(u, nil) {
						return
					}
				}
			}
		},
	}
}

// topSays returns the verdict that top ends with.
func topSays(t *testing.T, source watch.Source) string {
	t.Helper()
	w := watch.New(watch.Options{UntilEnded: true, Interval: 10 * time.Millisecond, Source: source})
	w.Run(t.Context())
	p := &text.Page{Width: 10_000}
	writeVerdicts(p, w.Snapshot())
	_, verdict, _ := strings.Cut(strings.TrimSpace(string(p.Bytes())), ": ")
	return verdict
}

// serveSays returns the verdict of a page of serve.
func serveSays(t *testing.T, source watch.Source) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const token = "0123456789abcdefghijklmn"
	server := web.New(web.Options{Token: token, Watch: true, Watcher: watch.Options{Source: source}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, l, "", "") }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	var verdict string
	dotnettest.Until(t.Context(), t, "the trace that is served ends", func() bool {
		var answer struct {
			Sources []struct {
				Live        bool
				Collections int
				Verdict     string
			}
		}
		r, err := http.Get("http://" + l.Addr().String() + "/list?t=" + token)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(r.Body).Decode(&answer)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if s := answer.Sources; len(s) > 0 && !s[0].Live && s[0].Collections > 0 {
			verdict = s[0].Verdict
			return true
		}
		return false
	})
	return verdict
}
