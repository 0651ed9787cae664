package cli

import (
	"context"
	"strings"
	"testing"
)

// TestNativeAOT reads the trace of a real NativeAOT program: its collections, its
// allocations without names, and its only module.
func TestNativeAOT(t *testing.T) {
	const path = "../../testdata/net10-aot-win-x64-alloc.nettrace.gz"
	ctx := context.Background()
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"gcs", "--format", "csv", "--columns", "number,generation,kind,reason,complete", path}, []string{"1,0,blocking,AllocSmall,true", "2,0,blocking,AllocSmall,true"}},
		{[]string{"allocs", path}, []string{"38 AllocationSampled", "  small   -\n", "  large   -\n"}},
		{[]string{"events", path}, []string{`"NativeBuildID":""`, `"TypeName":"NULL"`}},
		{[]string{"report", path}, []string{"NativeAOT programs send none, nor stacks"}},
	} {
		code, out, said := gctrail(ctx, test.args...)
		if code != exitDone {
			t.Errorf("%v: exit code %d: %s", test.args, code, said)
		}
		flat := strings.Join(strings.Fields(out), " ")
		for _, want := range test.want {
			if !strings.Contains(out, want) && !strings.Contains(flat, want) {
				t.Errorf("%v: %q is not in\n%s", test.args, want, out)
			}
		}
		if strings.Contains(out, "extra_bytes") || strings.Contains(out, "--profile gc-alloc") {
			t.Errorf("%v:\n%s", test.args, out)
		}
	}
}
