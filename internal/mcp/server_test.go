package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect serves a command to a client of the SDK.
func connect(t *testing.T, o Options, command Command) *sdk.ClientSession {
	t.Helper()
	s, err := New(o, command)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	here, there := sdk.NewInMemoryTransports()
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, here) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(ctx, there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		cancel()
		// The client may have gone before the answer to a call that it cancelled.
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
	return client
}

// call calls a tool and returns its texts.
func call(t *testing.T, client *sdk.ClientSession, tool string, arguments map[string]any) (texts []string, failed bool) {
	t.Helper()
	result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return []string{err.Error()}, true
	}
	size := 0
	for _, c := range result.Content {
		text := c.(*sdk.TextContent).Text
		size += len(text)
		texts = append(texts, text)
	}
	if size > MaxResult {
		t.Errorf("%s: the result has %d bytes", tool, size)
	}
	return texts, result.IsError
}

// echo writes its arguments.
func echo(_ context.Context, args []string, out, _ io.Writer) int {
	fmt.Fprintf(out, "{\"line\":%q}\n", strings.Join(args, " "))
	return 0
}

// echoed returns the output of echo.
func echoed(line string) string { return fmt.Sprintf("{\"line\":%q}\n", line) }

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.nettrace", "b.nettrace", "-x.nettrace"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTools(t *testing.T) {
	dir := folder(t)
	client := connect(t, Options{Root: dir}, echo)
	list, err := client.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if want := []string{"allocations", "collections", "compare", "objects", "processes", "triage", "what_if"}; !slices.Equal(names, want) {
		t.Errorf("tools are %v, want %v", names, want)
	}
	a, b := filepath.Join(dir, "a.nettrace"), filepath.Join(dir, "b.nettrace")
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"triage", map[string]any{"file": "a.nettrace"}, "report --format=json " + a},
		{"triage", map[string]any{"file": a, "process": "web*", "pid": 7, "from": "1s", "to": "-x"}, "report --format=json --process=web* --from=1s --to=-x --pid=7 " + a},
		{"triage", map[string]any{"explain": "-pause"}, "report --explain=-pause"},
		{"triage", map[string]any{"file": "-x.nettrace"}, "report --format=json " + filepath.Join(dir, "-x.nettrace")},
		{"collections", map[string]any{"file": "a.nettrace", "generation": 0, "kind": "blocking", "reason": "AllocLarge", "min_pause_ms": 1.5}, "gcs --format=jsonl --gen=0 --kind=blocking --reason=AllocLarge --min-pause=1.5ms " + a},
		{"objects", map[string]any{"file": "a.nettrace", "list": "handles", "by": "kind,stack", "pid": 7}, "handles --format=jsonl --pid=7 --by=kind,stack " + a},
		{"objects", map[string]any{"file": "a.nettrace", "list": "heap"}, "heap --format=jsonl " + a},
		{"objects", map[string]any{"file": "a.nettrace", "list": "events", "from": "1s"}, "events --format=jsonl --from=1s " + a},
		{"objects", map[string]any{"file": "a.nettrace", "list": "objects", "by": "path", "type": "Shop.*"}, "objects --format=jsonl --by=path --type=Shop.* " + a},
		{"objects", map[string]any{"file": "a.nettrace", "list": "objects", "by": "growth", "from": "1s"}, "objects --format=json --from=1s --top=5 " + a},
		{"processes", nil, "ps --format=jsonl"},
		{"allocations", map[string]any{"file": "a.nettrace", "by": "type,stack"}, "allocs --format=jsonl --by=type,stack " + a},
		{"compare", map[string]any{"before": []string{"a.nettrace"}, "after": []string{"b.nettrace"}}, "diff --format=json " + a + " -- " + b},
		{"compare", map[string]any{"before": []string{"a.nettrace"}, "after": []string{"b.nettrace"}, "work": []float64{1500, 0.5}}, "diff --format=json --work=1500,0.5 " + a + " -- " + b},
		{"what_if", map[string]any{"file": "a.nettrace", "set": []string{"GCgen0size=64M", "-x"}, "process": "web*"}, "what-if --format=json --process=web* --set=GCgen0size=64M --set=-x " + a},
	} {
		if got, failed := call(t, client, test.tool, test.arguments); failed || got[0] != echoed(test.want) {
			t.Errorf("%s: %v (failed: %v), want %s", test.tool, got, failed, test.want)
		}
	}
}

func TestHostilePaths(t *testing.T) {
	dir := folder(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "dir")); err != nil {
		t.Fatal(err)
	}
	client := connect(t, Options{Root: dir}, echo)
	for _, path := range []string{"", "-", "..", "../x", "/etc/passwd", dir + "/../x", "a.nettrace/../../x", "link", "dir/secret", "none", "x\x00y", outside + "/secret", dir + "x"} {
		if got, failed := call(t, client, "triage", map[string]any{"file": path}); !failed {
			t.Errorf("%q is read: %v", path, got)
		}
		if got, failed := call(t, client, "compare", map[string]any{"before": []string{"a.nettrace"}, "after": []string{path}}); !failed {
			t.Errorf("%q is compared: %v", path, got)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	client := connect(t, Options{Root: folder(t), AllowCollect: true}, echo)
	for tool, arguments := range map[string]map[string]any{
		"triage":      {},
		"collections": {"file": "a.nettrace", "generation": "two"},
		"compare":     {"before": "a.nettrace"},
		"allocations": {"file": "a.nettrace", "unknown": 1},
		"objects":     {"file": "a.nettrace", "list": "pins", "by": "type"},
		"processes":   {"offset": -1},
		"what_if":     {"file": "a.nettrace", "set": "GCgen0size=64M"},
		"delete":      {"file": "a.nettrace"},
	} {
		if got, failed := call(t, client, tool, arguments); !failed {
			t.Errorf("%s%v: %v", tool, arguments, got)
		}
	}
	for _, in := range []map[string]any{{"list": "types"}, {"list": "heap", "type": "Shop.*"}} {
		in["file"] = "a.nettrace"
		if got, failed := call(t, client, "objects", in); !failed {
			t.Errorf("objects%v: %v", in, got)
		}
	}
	for _, in := range []map[string]any{{"pid": 0, "seconds": 1}, {"pid": 1, "seconds": 0}, {"pid": 1, "seconds": 86400}} {
		if got, failed := call(t, client, "collect", in); !failed {
			t.Errorf("collect%v: %v", in, got)
		}
	}
}

func TestCollectNeedsLeave(t *testing.T) {
	dir := folder(t)
	in := map[string]any{"pid": 42, "seconds": 5, "profile": "gc-verbose"}
	if got, failed := call(t, connect(t, Options{Root: dir}, echo), "collect", in); !failed {
		t.Errorf("without --allow-collect: %v", got)
	}
	got, failed := call(t, connect(t, Options{Root: dir, AllowCollect: true}, echo), "collect", in)
	if want := `{"line":` + strings.TrimSuffix(strconv.Quote("collect -p 42 --duration=5s -o "+filepath.Join(dir, "gctrail-collect-42-")), `"`); failed || !strings.HasPrefix(got[0], want) || !strings.HasSuffix(got[0], ".nettrace --profile=gc-verbose\"}\n") {
		t.Errorf("%v, want %s….nettrace --profile=gc-verbose", got, want)
	}
}

// TestPages: a large result comes in pages, and nothing is written to the root.
func TestPages(t *testing.T) {
	dir := folder(t)
	const rows = 5000
	client := connect(t, Options{Root: dir}, func(_ context.Context, _ []string, out, notes io.Writer) int {
		for i := range rows {
			fmt.Fprintf(out, "{\"number\":%d,\"kind\":\"blocking\"}\n", i)
		}
		fmt.Fprint(notes, strings.Repeat("lost events ", 1000))
		return 0
	})
	in := map[string]any{"file": "a.nettrace", "columns": []string{"number"}}
	next, calls := 0, 0
	for ; next < rows && calls < rows; calls++ {
		in["offset"] = next
		got, failed := call(t, client, "collections", in)
		if failed || len(got) != 2 {
			t.Fatal(got)
		}
		lines := strings.Split(strings.TrimSpace(got[0]), "\n")
		var trailer struct {
			Rows int `json:"rows_in_all"`
			Next int `json:"next_offset"`
		}
		if last := lines[len(lines)-1]; strings.HasPrefix(last, `{"rows_in_all":`) {
			lines = lines[:len(lines)-1]
			if err := json.Unmarshal([]byte(last), &trailer); err != nil || trailer.Rows != rows || trailer.Next != next+len(lines) {
				t.Fatalf("ends with %s (%v) after %d rows from %d on", last, err, len(lines), next)
			}
		}
		for _, line := range lines {
			if want := fmt.Sprintf(`{"number":%d}`, next); line != want {
				t.Fatalf("%s, want %s", line, want)
			}
			next++
		}
	}
	if next != rows || calls < 2 {
		t.Errorf("%d rows in %d pages", next, calls)
	}
	if got, failed := call(t, client, "collections", map[string]any{"file": "a.nettrace", "offset": 7, "limit": 2}); failed || got[0] != "{\"number\":7,\"kind\":\"blocking\"}\n{\"number\":8,\"kind\":\"blocking\"}\n{\"rows_in_all\":5000,\"next_offset\":9}\n" {
		t.Errorf("rows 7 and 8: %v", got)
	}
	for _, bad := range []map[string]any{{"offset": rows}, {"columns": []string{"pause"}}} {
		bad["file"] = "a.nettrace"
		if got, failed := call(t, client, "collections", bad); !failed {
			t.Errorf("%v: %v", bad, got)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "gctrail-*")); err != nil || len(files) > 0 {
		t.Errorf("files %v (%v)", files, err)
	}
}

// TestLongRow: a row that exceeds a result gives an error with the remedy.
func TestLongRow(t *testing.T) {
	client := connect(t, Options{Root: folder(t)}, func(_ context.Context, _ []string, out, _ io.Writer) int {
		fmt.Fprintf(out, "{\"number\":1,\"stack\":%q}\n", strings.Repeat("x", 2*MaxResult))
		return 0
	})
	if got, failed := call(t, client, "allocations", map[string]any{"file": "a.nettrace"}); !failed || !strings.Contains(got[0], "columns") {
		t.Errorf("%v (failed: %v)", got, failed)
	}
	if got, failed := call(t, client, "allocations", map[string]any{"file": "a.nettrace", "columns": []string{"number"}}); failed || got[0] != "{\"number\":1}\n" {
		t.Errorf("%v (failed: %v)", got, failed)
	}
}

func TestFailure(t *testing.T) {
	client := connect(t, Options{Root: folder(t)}, func(_ context.Context, _ []string, _, notes io.Writer) int {
		fmt.Fprint(notes, "gctrail: a.nettrace: not a trace")
		return 3
	})
	if got, failed := call(t, client, "triage", map[string]any{"file": "a.nettrace"}); !failed || !strings.Contains(strings.Join(got, ""), "not a trace") {
		t.Errorf("%v (failed: %v)", got, failed)
	}
}

// A client that gives up ends the command.
func TestCancel(t *testing.T) {
	begun, ended := make(chan bool), make(chan bool)
	client := connect(t, Options{Root: folder(t)}, func(ctx context.Context, _ []string, _, _ io.Writer) int {
		close(begun)
		<-ctx.Done()
		close(ended)
		return 130
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "triage", Arguments: map[string]any{"file": "a.nettrace"}}); err == nil {
		t.Error("the call was not cancelled")
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the command goes on")
	}
}

func TestRoot(t *testing.T) {
	for _, path := range []string{"/none", "server_test.go"} {
		if _, err := New(Options{Root: path}, echo); err == nil {
			t.Errorf("%s is a root", path)
		}
	}
}
