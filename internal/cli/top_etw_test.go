package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
	"github.com/gctrail/gctrail/nettrace"
)

// A deniedETW is a system on which the user may not start sessions.
type deniedETW struct{ etw.System }

func (deniedETW) QueryAll([][]byte) (int, error) { return 0, nil }

func (deniedETW) StartTrace(string, []byte) (uint64, error) { return 0, etw.StatusDenied }

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

// TestETWErrors: an error that keeps an ETW session from recording comes with its remedy,
// and an exit code.
func TestETWErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
		code int
	}{
		{etw.StatusDenied, `add the user to the group "Performance Log Users"`, exitNoProcess},
		{etw.StatusNoResources, "stop one of another tool", exitUnreadable},
		{etw.ErrNoFile, "this system (Wine, or a container) has no ETW", exitUnsupported},
		{etw.StatusDiskFull, "Windows starts an ETW session only with 200 MB free; choose another folder with -o", exitUnreadable},
		{etw.ErrDiskFull, "the disk is full: ", exitUnreadable},
		{etw.ErrName, "choose a shorter one with -o", exitUnreadable},
	} {
		err := &etw.Error{Call: "StartTrace", Session: "gctrail-7", Err: c.err}
		if said := sentence(err); !strings.Contains(said, c.want) || exitCodeOf(err) != c.code {
			t.Errorf("%q, exit code %d; want %q, %d", said, exitCodeOf(err), c.want, c.code)
		}
	}
}

// TestETWMissing checks the messages about a session that has lost events, or ended by
// itself, and the exit code.
func TestETWMissing(t *testing.T) {
	full := &collect.OutputError{Name: "x.etl", Err: etw.ErrDiskFull}
	if said := sentence(full); said != "x.etl: the disk is full; make room, or choose another disk with -o" || exitCodeOf(full) != exitUnreadable {
		t.Errorf("%q, exit code %d", said, exitCodeOf(full))
	}
	for _, c := range []struct {
		result collect.Result
		want   string
	}{
		{collect.Result{ETW: &etw.Loss{}}, ""},
		{collect.Result{ETW: &etw.Loss{Events: 3}}, "gctrail: 3 events were lost because the session's buffers were full: collect fewer keywords, or set a larger --buffersize\n"},
		{collect.Result{ETW: &etw.Loss{Buffers: 1}}, "gctrail: 1 buffer of events could not be written: choose a disk with more room, or a faster one, with -o\n"},
		{
			collect.Result{ETW: &etw.Loss{}, Kernel: etw.Loss{Events: 1, Buffers: 2}},
			"gctrail: 1 event was lost because the buffers of the kernel session were full: some processes, or modules of native frames, may have no names\n" +
				"gctrail: 2 buffers of the kernel session could not be written: some processes, or modules of native frames, may have no names\n",
		},
		{
			collect.Result{ETW: &etw.Loss{}, Failed: full, Regular: true},
			"gctrail: writing failed: the file has everything written until then, and can be read\n",
		},
		{
			collect.Result{ETW: &etw.Loss{}, Displaced: true},
			"gctrail: another tool stopped the ETW session: the file has everything written until then, and can be read\n",
		},
	} {
		var said strings.Builder
		std := &stdio{err: text.NewPrinter(&said)}
		c.result.Trace = new(nettrace.Reader)
		std.printMissing(&c.result)
		std.printLost(&c.result, "collect fewer keywords, or set a larger --buffersize")
		if said.String() != c.want {
			t.Errorf("%q, want %q", said.String(), c.want)
		}
	}
}

// TestETWUnnamed: why a trace has no names of processes is said.
func TestETWUnnamed(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{etw.StatusDenied, "; the trace has no names of processes, which only an administrator may record"},
		{etw.StatusDiskFull, "; the trace has no names of processes: the disk is full: "},
		{nil, "press Ctrl-C to stop"},
	} {
		n := &collect.Recording{Tracer: "ETW", Path: "x.etl", Plan: new(collect.Plan)}
		if c.err != nil {
			n.Unnamed = &etw.Error{Call: "StartTrace", Session: "gctrail-7-kernel", Err: c.err}
		}
		if said := recordingText(n); !strings.Contains(said, c.want) || c.err == nil && !strings.HasSuffix(said, c.want) {
			t.Errorf("%q, want %q", said, c.want)
		}
	}
}
