package cli

import (
	"bytes"
	"context"

	"github.com/gctrail/gctrail/internal/text"
)

// gctrail runs a command and returns its exit code, its output and its messages.
func gctrail(ctx context.Context, args ...string) (code int, out, talk string) {
	var data, said bytes.Buffer
	std := &stdio{out: &data, err: text.NewPrinter(&said)}
	cmd := newRootCmd(std)
	cmd.SetArgs(args)
	code = std.complain(cmd.ExecuteContext(ctx))
	return code, data.String(), said.String()
}
