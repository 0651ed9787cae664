package cli

import (
	"context"
	"encoding/json"
	"io"
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
		{"compare", map[string]any{"before": []string{web}, "after": []string{datas}}, []string{"verdict", "metrics"}, false},
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
		if err := json.Unmarshal([]byte(result.Content[0].(*sdk.TextContent).Text), &row); err != nil {
			t.Errorf("%s%v: %v", call.tool, call.arguments, err)
		}
		for _, key := range call.keys {
			if row[key] == nil {
				t.Errorf("%s%v has no %s", call.tool, call.arguments, key)
			}
		}
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
