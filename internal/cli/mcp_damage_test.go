package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTruncatedForAgents: every tool that reads a truncated trace says that it is, on each
// page of its rows.
func TestTruncatedForAgents(t *testing.T) {
	root := t.TempDir()
	whole := webBytes(t)
	if err := os.WriteFile(filepath.Join(root, "cut.nettrace"), whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	client := mcpClient(t, root)
	for tool, arguments := range map[string]map[string]any{
		"triage":      {"file": "cut.nettrace"},
		"collections": {"file": "cut.nettrace", "offset": 2, "limit": 1, "columns": []string{"number"}},
		"allocations": {"file": "cut.nettrace"},
		"objects":     {"file": "cut.nettrace", "list": "heap", "limit": 1},
		"compare":     {"before": []string{"cut.nettrace"}, "after": []string{"cut.nettrace"}},
	} {
		result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, c := range result.Content {
			said.WriteString(c.(*sdk.TextContent).Text)
		}
		if s := said.String(); !strings.Contains(s, "truncated") && !strings.Contains(s, `"cut":true`) {
			t.Errorf("%s does not say that the trace is truncated: %.1000s", tool, s)
		}
	}
}
