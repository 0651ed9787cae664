package cli

import (
	"context"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gctrail/gctrail/internal/mcp"
)

// TestMCP has a client of the protocol's SDK call the tools on real traces, over
// a pair of pipes as they are between two processes.
func TestMCP(t *testing.T) {
	client := mcpClient(t, "../../testdata")
	const web, datas = "net10-wks-web-collect.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz"
	for _, call := range []struct {
		tool      string
		arguments map[string]any
		keys      []string // of the first line
		fails     bool
	}{
		{"triage", map[string]any{"file": web}, []string{"verdict", "processes"}, false},
		{"collections", map[string]any{"file": web, "generation": 2, "kind": "blocking"}, []string{"number", "pause_ms"}, false},
		{"collections", map[string]any{"file": web, "offset": 90, "columns": []string{"number", "pause_ms"}}, []string{"number", "pause_ms"}, false},
		{"collections", map[string]any{"file": web, "columns": []string{"slowness"}}, nil, true},
		{"objects", map[string]any{"file": web, "list": "heap", "limit": 3}, []string{"number", "gen0_bytes"}, false},
		{"objects", map[string]any{"file": "net10-wks-pin-collect.nettrace.gz", "list": "heap"}, []string{"gen0_budget_bytes"}, false},
		{"objects", map[string]any{"file": "net10-wks-leak-event.nettrace.gz", "list": "objects", "by": "path", "type": "Shop.*"}, []string{"path", "retained_bytes"}, false},
		{"objects", map[string]any{"file": "net10-wks-leak-event.nettrace.gz", "list": "objects", "by": "growth"}, []string{"snapshots", "growth"}, false},
		{"objects", map[string]any{"file": "net8-wks-rich.gcdump.gz", "list": "objects"}, []string{"type"}, false},
		{"compare", map[string]any{"before": []string{web}, "after": []string{datas}}, []string{"verdict", "metrics"}, false},
		{"what_if", map[string]any{"file": web, "set": []string{"GCgen0size=256M"}}, []string{"settings", "metrics", "assumes", "notes"}, false},
		{"what_if", map[string]any{"file": web, "set": []string{"gcServer=1", "GCHeapHardLimit=1G"}}, []string{"cannot_tell"}, false},
		{"what_if", map[string]any{"file": web, "set": []string{"Slowness=1"}}, nil, true},
		{"what_if", map[string]any{"file": web, "set": []string{}}, nil, true},
		{"collections", map[string]any{"file": "README.md"}, nil, true},
		{"collections", map[string]any{"file": web, "kind": "slow"}, nil, true},
	} {
		result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: call.tool, Arguments: call.arguments})
		if err != nil {
			t.Fatalf("%s%v: %v", call.tool, call.arguments, err)
		}
		if result.IsError != call.fails {
			t.Errorf("%s%v: error is %v, want %v: %v", call.tool, call.arguments, result.IsError, call.fails, result.Content)
		}
		size := 0
		for _, c := range result.Content {
			size += len(c.(*sdk.TextContent).Text)
		}
		if size == 0 || size > mcp.MaxResult {
			t.Errorf("%s%v: %d bytes, want at most %d", call.tool, call.arguments, size, mcp.MaxResult)
		}
		if call.fails {
			continue
		}
		var row map[string]any
		if err := json.NewDecoder(strings.NewReader(result.Content[0].(*sdk.TextContent).Text)).Decode(&row); err != nil {
			t.Errorf("%s%v: %v", call.tool, call.arguments, err)
		}
		for _, key := range call.keys {
			if row[key] == nil {
				t.Errorf("%s%v has no %s", call.tool, call.arguments, key)
			}
		}
	}
}

// TestMCPNext calls the tools that triages of real traces suggest.
func TestMCPNext(t *testing.T) {
	client := mcpClient(t, "../../testdata")
	called := 0
	for _, file := range []string{"net10-wks-pin-collect.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz", "net10-wks-stacks.nettrace.gz"} {
		result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: "triage", Arguments: map[string]any{"file": file}})
		if err != nil || result.IsError {
			t.Fatalf("%s: %v %v", file, err, result)
		}
		type step struct {
			Tool, Command string
			Arguments     map[string]any
		}
		var triage struct {
			Next      []step
			Processes []struct{ Findings []struct{ Next []step } }
		}
		if err := json.Unmarshal([]byte(result.Content[0].(*sdk.TextContent).Text), &triage); err != nil {
			t.Fatal(err)
		}
		steps := triage.Next
		for _, p := range triage.Processes {
			for _, f := range p.Findings {
				steps = append(steps, f.Next...)
			}
		}
		for _, s := range steps {
			if s.Tool == "" {
				continue
			}
			called++
			result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: s.Tool, Arguments: s.Arguments})
			if err != nil || result.IsError {
				t.Errorf("%s: %s%v: %v %v", file, s.Tool, s.Arguments, err, result)
			}
		}
	}
	if called < 3 {
		t.Errorf("only %d calls", called)
	}
}

// mcpClient serves a folder to a client.
func mcpClient(t *testing.T, root string) *sdk.ClientSession {
	t.Helper()
	server, err := mcp.New(mcp.Options{Root: root}, execute)
	if err != nil {
		t.Fatal(err)
	}
	requests, toServer := io.Pipe()
	answers, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background(), requests, toClient) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).
		Connect(context.Background(), &sdk.IOTransport{Reader: answers, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return client
}

// TestCallsLeaveNothing: the server of mcp runs a command line for each call, and keeps
// nothing of one that has ended.
func TestCallsLeaveNothing(t *testing.T) {
	held := func(calls int) uint64 {
		for range calls {
			if code := execute(t.Context(), []string{"allocs", "../../testdata/net10-wks-stacks.nettrace.gz"}, io.Discard, io.Discard); code != exitDone {
				t.Fatalf("exit code %d", code)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const more, each = 10, 1 << 20
	before := held(2)
	if after := held(more); after > before+more*each {
		t.Errorf("%d calls leave %d bytes", more, after-before)
	}
}
