package convert_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

// TestRequests writes the spans of a trace to Perfetto's format, and to no other.
func TestRequests(t *testing.T) {
	const file, spans = "../../testdata/net10-wks-requests.nettrace.gz", 270
	for format, want := range map[string]int64{"perfetto": spans, "firefox": 0} {
		c := convert.New(convert.Named(format), new(selection.Selection), false)
		in, err := open.Files([]string{file}, open.Options{Want: c.Wants()})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out bytes.Buffer
		if err := c.Write(input{in.Source}, []io.Writer{&out}); err != nil {
			t.Fatal(err)
		}
		if c.Requests != want || c.RequestsLeftOut != 0 {
			t.Errorf("%s has %d spans, and %d left out; expected %d", format, c.Requests, c.RequestsLeftOut, want)
		}
		if has := bytes.Contains(out.Bytes(), []byte("GET /report")); has != (want > 0) {
			t.Errorf("%s names a request: %v", format, has)
		}
	}
}
