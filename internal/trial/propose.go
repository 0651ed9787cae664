package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A Proposal holds the settings that a first run suggests to try.
type Proposal struct {
	Settings []Setting
	// None says why nothing is proposed; empty if something is.
	None string
}

// maxProposed bounds the proposed settings, because each lengthens the experiment, and
// lessens what it can find.
const maxProposed = 6

// leastShare is the share of the time, in percent, from which pauses are worth a trial.
const leastShare = 1

// propose proposes settings: the ones that findings advise, then others that the process's
// collector reads.
func (t *traced) propose() *Proposal {
	if t.found == nil {
		return &Proposal{None: "no GC happened in a run, so that no setting of the GC can make it faster. Give settings to try with --set, as in --set gcServer=1"}
	}
	p := &Proposal{}
	for i := range t.found.Findings {
		f := &t.found.Findings[i]
		for j := range f.Settings {
			p.add(f.Settings[j].Variable+"="+f.Settings[j].Value, fmt.Sprintf("%s: %s", f.ID, f.Title))
		}
	}
	share := t.found.Summary.PauseShare().Or(0)
	if share < leastShare && len(p.Settings) == 0 {
		p.None = fmt.Sprintf("pauses took %s of the time of a run (%s), and no finding advises a setting: the most that one could gain is that. Give settings to try with --set, as in --set GCgen0size=64M",
			units.Percent(share), text.Counted(t.found.Summary.All().Count, "GC"))
		return p
	}
	if setting, why := t.largerGen0(); setting != "" {
		p.add(setting, why)
	}
	for _, c := range general {
		if why := c.why(t); why != "" {
			p.add(c.setting, why)
		}
	}
	if len(p.Settings) == 0 {
		p.None = "every setting that gctrail would propose is in force already. Give settings to try with --set"
	}
	return p
}

// add adds a setting whose variable is not proposed yet.
func (p *Proposal) add(text, why string) {
	s, err := ParseSetting(text)
	if err != nil || len(p.Settings) == maxProposed {
		return
	}
	for _, v := range s.Variables {
		if slices.ContainsFunc(p.Settings, func(have Setting) bool { return have.Variables[0].Name == v.Name }) {
			return
		}
	}
	s.Name = readable(&s)
	s.Why = why
	p.Settings = append(p.Settings, s)
}

// readable names a setting by values that people read: "GCgen0size=64M" for 0x4000000.
func readable(s *Setting) string {
	var names []string
	for _, v := range s.Variables {
		value := v.Value
		if short := shortText.Replace(v.Text); strings.HasSuffix(v.Text, "iB") || strings.HasSuffix(v.Text, " kB") || strings.HasSuffix(v.Text, "MB") {
			value = short
		} else if len(v.Text) == 1 {
			value = v.Text // below ten, the same in both systems
		}
		names = append(names, v.Name+"="+value)
	}
	return strings.Join(names, ",")
}

var shortText = strings.NewReplacer(" KiB", "K", " MiB", "M", " GiB", "G", " TiB", "T", ",", "", " ", "")

// A generalSetting is a setting that is worth a trial without a finding.
type generalSetting struct {
	setting string
	why     func(*traced) string // empty if it is not
}

// large is the share of collections from which the LOH is a reason to try another threshold.
const large = 0.1

var general = []generalSetting{
	{"GCLOHThreshold=200kB", func(t *traced) string {
		s := t.process.Settings
		if s != nil && s.LOHThreshold >= 200_000 || t.share(clr.GCReasonAllocLarge) < large {
			return ""
		}
		return "large objects cause gen 2 GCs"
	}},
	{"GCDynamicAdaptationMode=0", func(t *traced) string {
		if !t.process.Adaptation.Known() {
			return ""
		}
		return "server GC adapts its heaps to the program (DATAS)"
	}},
	{"GCDGen0GrowthPercent=0x12C", func(t *traced) string {
		if !t.process.Adaptation.Known() || !strings.HasPrefix(t.process.Runtime, ".NET 1") {
			return ""
		}
		return "server GC adapts its heaps to the program (DATAS), by the live size"
	}},
	{"gcServer=0", func(t *traced) string {
		if !t.process.Server.Or(false) {
			return ""
		}
		return "workstation GC takes less memory, and does less work beside the program"
	}},
	{"gcServer=1", func(t *traced) string {
		if t.process.Server.Or(true) || t.processors < 4 {
			return ""
		}
		return "server GC collects on all processors"
	}},
	{"gcConcurrent=0", func(t *traced) string {
		if !t.process.Concurrent.Or(false) || t.found.Summary.Kind(gc.Background).Count == 0 {
			return ""
		}
		return "background GCs run beside the program"
	}},
}

// The budgets of gen 0 that are proposed: several times the present one, because less is hard to
// distinguish from noise, within what the runtime or the machine has room for.
const (
	gen0Growth     = 4
	leastProposed  = 64 << 20
	mostServerGen0 = 1 << 30
	worthwhile     = 1.25 // times the present budget
)

// largerGen0 returns a setting that makes gen 0 larger than it is. Its budget is as large as the
// processor's caches unless it is set, which may be more than any fixed value.
func (t *traced) largerGen0() (setting, why string) {
	now := t.gen0.usual()
	if s := t.process.Settings; s != nil {
		if s.HardLimit > 0 {
			return "", "" // which also bounds gen 0
		}
		now = max(now, int64(s.Gen0MinBudgetConfig))
	}
	most := int64(mostServerGen0)
	if !t.process.Server.Or(false) {
		most = mostGen0
	}
	size := int64(leastProposed)
	for size < gen0Growth*now && size < most {
		size *= 2
	}
	if float64(size) < worthwhile*float64(now) {
		return "", ""
	}
	why = "a larger gen 0 is collected less often"
	if now > 0 {
		why += ": its budget is " + units.Bytes(now)
	}
	return fmt.Sprintf("GCgen0size=%dM", size>>20), why
}

// share returns the part of the collections that have a reason.
func (t *traced) share(reason clr.GCReason) float64 {
	for _, r := range t.found.Summary.Reasons() {
		if r.Reason == gc.Some(reason) {
			return float64(r.Count) / float64(max(1, t.found.Summary.All().Count))
		}
	}
	return 0
}
