package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etwsession"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

// A deniedETW is a system on which the user may not start sessions.
type deniedETW struct{ etwsession.System }

func (deniedETW) QueryAll([][]byte) (int, error) { return 0, nil }

func (deniedETW) StartTrace(string, []byte) (uint64, error) { return 0, etwsession.StatusDenied }

// TestTopETW: processes of .NET Framework are followed through ETW. If that is not
// allowed, it is said which group the user needs.
func TestTopETW(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := watchSource(deniedETW{})
	framework := &diag.Process{PID: 7, Name: "w3wp"}
	for _, err := range s.Follow(context.Background(), framework, live.Options{}) {
		const want = `not watched: ETW sessions need more rights: run gctrail as administrator, or add the user to the group "Performance Log Users"`
		if said := newsOf(&watch.News{Process: framework, Err: err}, ""); !strings.HasPrefix(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
		if said := problemOf(err); !strings.HasPrefix(said, "ETW sessions need more rights") {
			t.Error(said)
		}
	}
	if _, _, err := saveTrace(nil, &watch.Process{Process: framework}, collect.NewPaths("")); err == nil || !strings.HasSuffix(err.Error(), "gctrail collect -n w3wp") {
		t.Error(err)
	}
	if s := watchSource(nil); s.List != nil {
		t.Error("there is ETW on a system without it")
	}
}

// TestETWErrors: what keeps an ETW session from recording comes with what to do, and an
// exit code.
func TestETWErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
		code int
	}{
		{etwsession.StatusDenied, `add the user to the group "Performance Log Users"`, exitNoProcess},
		{etwsession.StatusNoResources, "stop one of another tool", exitUnreadable},
		{etwsession.ErrNoFile, "this system (Wine, or a container) has no ETW", exitUnsupported},
		{etwsession.StatusDiskFull, "choose another folder with -o", exitUnreadable},
		{etwsession.ErrName, "choose a shorter one with -o", exitUnreadable},
	} {
		err := &etwsession.Error{Call: "StartTrace", Session: "gctrail-7", Err: c.err}
		if said := sentence(err); !strings.Contains(said, c.want) || exitCodeOf(err) != c.code {
			t.Errorf("%q, exit code %d; want %q, %d", said, exitCodeOf(err), c.want, c.code)
		}
	}
}

// TestETWLoss checks that a session reports lost buffers, and what to do.
func TestETWLoss(t *testing.T) {
	var said strings.Builder
	std := &stdio{err: text.NewPrinter(&said)}
	std.tellETWLoss(&etwsession.Loss{})
	if said.Len() > 0 {
		t.Errorf("%q", said.String())
	}
	std.tellETWLoss(&etwsession.Loss{Events: 3, Buffers: 1})
	const want = "gctrail: 3 events were lost because the session's buffers were full, and 1 buffer that could not be written: set a larger --buffersize, or choose a faster disk\n"
	if said.String() != want {
		t.Errorf("%q", said.String())
	}
}
