package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// TestCaptureNonsense: collect says that a runtime sends blocks that cannot be read, and
// fails, leaving an earlier file, where it sends nothing else.
func TestCaptureNonsense(t *testing.T) {
	trace := webBytes(t)
	trace = trace[:len(trace)-1]
	for _, size := range []int{100 << 10, 1 << 20, 4 << 20} {
		for _, ring := range []bool{false, true} {
			t.Run(fmt.Sprint(size>>10, " KB, ring: ", ring), func(t *testing.T) {
				const fails = "it does not send a trace: nothing in what came can be read as an event"
				o := newCollectOptions()
				o.output = filepath.Join(t.TempDir(), "web.nettrace")
				stop := collect.Stop{Files: 1}
				code, says := exitDone, "damaged trace: 3 places could not be read, the first at byte "
				if ring {
					code, says = exitNoProcess, "it sends a block that cannot be read"
					stop.Keep.Size = 64 << 20
				}
				config, _ := o.request().Config()
				for _, tt := range []struct {
					name     string
					head     []byte
					code     int
					says     string
					replaces bool
				}{
					{"nothing else", dotnettest.Head(trace), exitNoProcess, fails, false},
					{"a trace before", trace, code, says, true},
				} {
					if err := os.WriteFile(o.output, []byte("earlier"), 0o600); err != nil {
						t.Fatal(err)
					}
					var talk bytes.Buffer
					sent := append(bytes.Clone(tt.head), dotnettest.Nonsense(len(tt.head), 3, size)...)
					std := &stdio{out: io.Discard, err: text.NewPrinter(&talk)}
					err := o.gatherWith(context.Background(), std, listen(t, dotnettest.NewRuntime(sent, nil)), config, stop.Plan())
					said := strings.Join(strings.Fields(talk.String()), " ")
					if code := std.complain(err); code != tt.code || !strings.Contains(said, tt.says) {
						t.Errorf("%s: exit code %d: %s", tt.name, code, said)
					}
					b, err := os.ReadFile(o.output)
					if replaced := string(b) != "earlier"; err != nil || replaced != tt.replaces {
						t.Errorf("%s: %d bytes, %v: %s", tt.name, len(b), err, said)
					}
				}
				if left, err := os.ReadDir(filepath.Dir(o.output)); err != nil || len(left) != 1 {
					t.Errorf("%v is left, %v", left, err)
				}
			})
		}
	}
}
