package whatif_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// A pairProgram runs as it is, and under each setting.
type pairProgram struct {
	version int // of gcload; 0 for lab
	mode    string
	env     string // what both runs have; empty for nothing
}

const server, nonconcurrent = "DOTNET_gcServer=1", "DOTNET_gcConcurrent=0"

var pairPrograms = []pairProgram{
	{10, "handles", ""},
	{0, "cache", server},
	{9, "background", ""},
	{8, "web", server},
	{0, "cwt", ""},
	{10, "pin", ""},
	{9, "all", server},
	{0, "cdict", nonconcurrent},
	{8, "leak", ""},
	{0, "bigarr", ""},
	{10, "finalizers", server},
	{0, "evleak", server},
}

// pairSettings are the settings of pairs. Each program starts with a different one, so that
// small samples cover several.
var pairSettings = []string{"GCgen0size=8M", "GCgen0size=96M", "GCgen0size=512K", "GCgen0size=3M", "GCGen0MaxBudget=4M"}

func (p *pairProgram) String() string {
	name := "gcload-net" + strconv.Itoa(p.version)
	if p.version == 0 {
		name = "lab"
	}
	return strings.Trim(name+"-"+p.mode+"-"+strings.NewReplacer("DOTNET_", "", "=", "").Replace(p.env), "-")
}

// pairSeconds is how long each run takes.
const pairSeconds = 4

// TestPairs predicts the effect of settings on real programs from a run of each as it is, and
// compares the prediction with a run with the setting. It prints how many of the values lie
// within their bounds and how wide these are; docs/what-if.md has a full run's.
//
// GCTRAIL_PAIRS is a folder that keeps the traces. A trace that is there is not recorded again.
func TestPairs(t *testing.T) {
	extent.Long(t, "runs real .NET programs for minutes")
	folder := cmp.Or(os.Getenv("GCTRAIL_PAIRS"), t.TempDir())
	var all tally
	for i := range extent.Pick(0, 1, len(pairPrograms)) {
		p := &pairPrograms[i]
		base := p.measured(t, folder, "")
		for j := range extent.Pick(0, 1, len(pairSettings)) {
			all.add(t, p, base, p.measured(t, folder, pairSettings[(i+j)%len(pairSettings)]), pairSettings[(i+j)%len(pairSettings)])
		}
	}
	all.print(t)
	if all.within*4 < all.values*3 {
		t.Errorf("%d of %d values are within bounds", all.within, all.values)
	}
}

// measured reads the trace of a program with a setting, or without one if it is empty.
func (p *pairProgram) measured(t *testing.T, folder, setting string) *whatif.Program {
	t.Helper()
	path := filepath.Join(folder, p.String()+"-"+cmp.Or(setting, "base")+".nettrace")
	if _, err := os.Stat(path); err != nil {
		p.record(t, path, setting)
	}
	in, err := open.File(path, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	of := new(whatif.Program)
	for c, err := range (&gc.Model{PerHeap: true}).Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		of.Add(c)
	}
	return of
}

// record has the runtime write a trace of a run.
func (p *pairProgram) record(t *testing.T, path, setting string) {
	t.Helper()
	command := []string{}
	if p.version == 0 {
		command = dotnettest.Lab(t)
	} else {
		command = append(command, dotnettest.Install(t, p.version))
	}
	command = append(command, p.mode, strconv.Itoa(pairSeconds))
	ctx, cancel := context.WithTimeout(t.Context(), dotnettest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+path, "DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:0x1:4")
	if p.env != "" {
		cmd.Env = append(cmd.Env, p.env)
	}
	if setting != "" {
		set, err := whatif.ParseSet(setting)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "DOTNET_"+set.Name+"="+set.Value.Hex())
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s: %v: %s", p, setting, err, out)
	}
}

// A tally counts values of pairs, in all and within their bounds.
type tally struct {
	pairs, values, within int
	metrics               []metricTally
}

type metricTally struct {
	name           string
	values, within int
	widths         []float64 // in present values
}

// add compares a pair.
func (c *tally) add(t *testing.T, p *pairProgram, base, with *whatif.Program, setting string) {
	t.Helper()
	set, err := whatif.ParseSet(setting)
	if err != nil {
		t.Fatal(err)
	}
	said, is := whatif.Predict(base, []whatif.Set{set}), whatif.Predict(with, nil)
	if len(said.CannotTell) > 0 {
		t.Logf("%v %s: cannot tell %v", p, setting, said.CannotTell)
		return
	}
	c.pairs++
	for i := range said.Metrics {
		if len(c.metrics) == i {
			c.metrics = append(c.metrics, metricTally{name: said.Metrics[i].Name})
		}
		c.metrics[i].add(t, fmt.Sprint(p, " ", setting), &said.Metrics[i], is.Metrics[i].Now.Or(math.NaN()))
	}
	c.values, c.within = 0, 0
	for _, m := range c.metrics {
		c.values, c.within = c.values+m.values, c.within+m.within
	}
}

// add counts a measured value.
func (c *metricTally) add(t *testing.T, pair string, m *whatif.Metric, is float64) {
	t.Helper()
	low, high := m.Low.Or(math.NaN()), m.High.Or(math.NaN())
	if math.IsNaN(is) || math.IsNaN(low) {
		return
	}
	c.values++
	if now := m.Now.Or(0); now > 0 {
		c.widths = append(c.widths, (high-low)/now)
	}
	if low <= is && is <= high {
		c.within++
	} else {
		t.Logf("%s: %s is %.4g, not within %.4g to %.4g; without the setting %.4g", pair, m.Name, is, low, high, m.Now.Or(0))
	}
}

// print prints the counts of each metric.
func (c *tally) print(t *testing.T) {
	t.Helper()
	for _, m := range c.metrics {
		width := math.NaN()
		if slices.Sort(m.widths); len(m.widths) > 0 {
			width = m.widths[len(m.widths)/2]
		}
		t.Logf("%-20s %d of %d within, median width %.2g present values", m.name, m.within, m.values, width)
	}
	t.Logf("%d pairs, %d of %d values within bounds (%.1f %%); runs of %v", c.pairs, c.within, c.values, 100*float64(c.within)/float64(max(1, c.values)), pairSeconds*time.Second)
}
