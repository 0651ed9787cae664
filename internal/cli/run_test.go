package cli

import (
	"bytes"
	"context"

	"github.com/gctrail/gctrail/internal/text"
)

// gctrail runs a command and returns its exit code, and what it says. No shell asks it for
// completions: otherwise, cobra would keep what each call has read, 2 MB, to the test's end.
func gctrail(ctx context.Context, args ...string) (code int, out, talk string) {
	var data, said bytes.Buffer
	std := &stdio{out: &data, err: text.NewPrinter(&said), noShell: true}
	cmd := newRootCmd(std)
	cmd.SetArgs(args)
	code = std.complain(cmd.ExecuteContext(ctx))
	return code, data.String(), said.String()
}
