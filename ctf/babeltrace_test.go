package ctf_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/trace"
)

// TestBabeltraceReads: babeltrace2 reads the writer's output without a complaint.
func TestBabeltraceReads(t *testing.T) {
	tool, err := exec.LookPath("babeltrace2")
	if err != nil {
		t.Skip("babeltrace2 is not installed")
	}
	d := &trace.Descriptor{Provider: "shop", Name: "order", Fields: []trace.Field{
		{Name: "paid", Type: trace.Boolean},
		{Name: "price", Type: trace.Float64},
		{Name: "weight", Type: trace.Float32},
		{Name: "key", Type: trace.GUID},
		{Name: "what", Type: trace.UTF16String},
		{Name: "sizes", Type: trace.Array, Elem: &trace.Field{Type: trace.Int16}},
		{Name: "tags", Type: trace.Array, Elem: &trace.Field{Type: trace.UTF16String}},
		{Name: "type", Type: trace.Uint8},
	}}
	payload := []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0x40}
	payload = append(payload, "0123456789abcdef"...)
	payload = append(payload, 'x', 0, 'y', 0, 0, 0, 2, 0, 1, 0, 0xff, 0xff, 1, 0, 'z', 0, 0, 0, 200)

	dir := t.TempDir()
	w, err := ctf.CreateFolder(dir, ctf.WriterOptions{Start: writerStart, PID: 12, Process: "web", Host: "a host", PacketSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	for i := range n {
		if err := w.Write(&trace.Event{Desc: d, Ticks: int64(i) << 28, TID: 13, Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "--clock-cycles", dir)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	const want = ` a host shop:order: { cpu_id = 0 }, { vpid = 12, vtid = 13, procname = "web" }, ` +
		`{ paid = 1, price = 1, weight = 2, key = [ [0] = 48, [1] = 49, [2] = 50, [3] = 51, [4] = 52, [5] = 53, [6] = 54, [7] = 55, ` +
		`[8] = 56, [9] = 57, [10] = 97, [11] = 98, [12] = 99, [13] = 100, [14] = 101, [15] = 102 ], what = "xy", ` +
		`_sizes_length = 2, sizes = [ [0] = 1, [1] = -1 ], _tags_length = 1, tags = [ [0] = "z" ], type = 200 }`
	if len(lines) != n || !strings.HasSuffix(lines[n-1], want) || !strings.Contains(lines[n-1], "268167020544] ") {
		t.Errorf("%d lines, the last is %s\nwant %d, %s", len(lines), lines[len(lines)-1], n, want)
	}
}
