package findings_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestUnknownWait takes neither side where the system does not say how long threads waited
// for a processor, as on Windows: no rule finds a shortage, although other programs have the
// processors, and advice on a long pause does not say that processors were not short.
func TestUnknownWait(t *testing.T) {
	const (
		short   = "Solve the shortage of processors first"
		enough  = "over the whole trace, processors were not short"
		unknown = "Look for what else ran at that time"
	)
	for _, tt := range []struct {
		name       string
		wait, busy uint64 // ms a second, where threads run for 500, and two processors for 2,000
		unknown    bool
		rules      []string // of R16, R17 and R18
		advice     string   // of R11
	}{
		{"none", 0, 600, false, nil, enough},
		{"beside others", 500, 1900, false, []string{"R17"}, short},
		{"beside its own threads", 500, 600, false, []string{"R18"}, short},
		{"not known", 0, 600, true, nil, unknown},
		{"not known, beside others", 500, 1900, true, nil, unknown},
	} {
		h := assembled["R11"].there()
		h.process.Limits = &gc.Limits{MachineProcessors: 2}
		for i := range uint64(101) {
			at := time.Duration(i) * time.Second
			h.process.Processor.Read(at, &clr.ProcessThreadTime{RunNanoseconds: i * 500e6, WaitNanoseconds: i * tt.wait * 1e6, WaitUnknown: tt.unknown})
			h.process.Processor.Read(at, &clr.MachineTime{BusyNanoseconds: i * tt.busy * 1e6})
		}
		found := h.judged().Findings
		var rules []string
		for _, id := range []string{"R16", "R17", "R18"} {
			if find(found, id) != nil {
				rules = append(rules, id)
			}
		}
		if !slices.Equal(rules, tt.rules) {
			t.Errorf("%s: found %v, want %v", tt.name, rules, tt.rules)
		}
		f := find(found, "R11")
		if f == nil {
			t.Fatalf("%s: R11 is not found", tt.name)
		}
		if len(f.Advice) != 1 || !strings.Contains(f.Advice[0], tt.advice) {
			t.Errorf("%s: advises %q, want %q", tt.name, f.Advice, tt.advice)
		}
	}
}

// TestOthersLeaveTheProcessItsTime: ticks of the system's clock may add up to more than the
// processors had. Nothing is said about the pauses if no thread waited around one.
func TestOthersLeaveTheProcessItsTime(t *testing.T) {
	h := assembled["R11"].there()
	h.process.Limits = &gc.Limits{MachineProcessors: 2}
	for i := range uint64(101) {
		at := time.Duration(i) * time.Second
		h.process.Processor.Read(at, &clr.ProcessThreadTime{RunNanoseconds: i * 500e6, WaitNanoseconds: i * 500e6})
		h.process.Processor.Read(at, &clr.MachineTime{BusyNanoseconds: i * 2010e6})
	}
	f := find(h.judged().Findings, "R17")
	if f == nil || !strings.Contains(f.Description, "Of 2 processors, the process used 0.50 on average, and other programs 1.50.") {
		t.Fatalf("%+v", f)
	}
	for _, text := range f.Advice {
		if strings.Contains(text, "longer than the GC's work") {
			t.Errorf("though no thread waited around a pause: %s", text)
		}
	}
}
