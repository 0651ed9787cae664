package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc/elsewhere"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/units"
)

// The shares of the time from which something besides the GC takes much of it, in percent,
// summed up over threads.
const (
	muchWaiting   = 20
	muchCompiling = 20
	muchLoading   = 10
)

const (
	enoughWaits      = 20  // for a lock, or of methods or types
	enoughStarvation = 3   // threads that the pool added because its queue did not move
	manyExceptions   = 100 // a second

	// enoughTime keeps the start of a short program from counting.
	enoughTime = 500 * time.Millisecond
)

// recordStacks records the call stacks where the time goes.
func recordStacks(r Recording, purpose string) []Step {
	return []Step{{Action: Record, Purpose: purpose, Recording: r}}
}

// elsewhereRules say where the time went if pauses are within budget. They are never worse
// than a note, because they do not change the verdict on the GC.
var elsewhereRules = []rule{
	{
		id: "R91", title: "threads wait for locks", kind: aside, minor: true,
		threshold: "pauses are within budget, and waiting for locks takes 20 % of the time or more, summed up over threads, in 20 waits or more, 500 ms or more in total",
		source:    "own; the times of ContentionStart and ContentionStop",
		find: func(j *judgement) (Finding, bool) {
			return j.takes(muchWaiting, func(s *elsewhere.Sum) *elsewhere.Waits { return &s.Locks }, "wait",
				"Threads waited %s for locks: %s of the time, summed up over threads, in %s; the longest took %s.")
		},
		advice: []advice{{
			text: "Look for locks that are held for long, during I/O for example, or by all threads alike.",
			next: recordStacks(LockStacks, "record the call stacks that wait for locks"),
		}},
	},
	{
		id: "R92", title: "the thread pool lacks threads", kind: aside, minor: true,
		threshold: "pauses are within budget, and the thread pool added threads three times or more because its queue did not move",
		source:    "ThreadPoolWorkerThreadAdjustmentAdjustment with the reason Starvation; see PortableThreadPool.GateThread.cs",
		find:      poolStarves,
		advice: []advice{{
			text: "Look for code that blocks threads of the pool: Wait, Result, Sleep, locks, synchronous I/O.",
			next: recordStacks(PoolStacks, "record the call stacks that block (.NET 9 and later)"),
		}},
	},
	{
		id: "R93", title: "compiling methods takes much of the time", kind: aside, minor: true,
		threshold: "pauses are within budget, and compiling methods takes 20 % of the time or more, summed up over threads, for 20 methods or more, 500 ms or more in total",
		source:    "own; the times from MethodJittingStarted to MethodLoadVerbose",
		find: func(j *judgement) (Finding, bool) {
			return j.takes(muchCompiling, func(s *elsewhere.Sum) *elsewhere.Waits { return &s.Methods }, "method",
				"Compiling methods took %s: %s of the time, summed up over threads, for %s; the longest took %s.")
		},
		advice: []advice{{
			text: "Look for expressions, regular expressions and serializers that are compiled anew each time; where it is start-up, for assemblies without ReadyToRun code.",
			next: recordStacks(Compilation, "record which methods are compiled, and by which code"),
		}},
	},
	{
		id: "R94", title: "the program throws many exceptions", kind: aside, minor: true,
		threshold: "pauses are within budget, and the program throws 100 exceptions a second or more",
		source:    "own; ExceptionThrown",
		find:      throwsOften,
		advice: []advice{{
			text: "Look for exceptions on frequent paths, such as from Parse where TryParse would do.",
			next: recordStacks(ExceptionStacks, "record the call stacks that throw"),
		}},
	},
	{
		id: "R95", title: "loading types takes much of the time", kind: aside, minor: true,
		threshold: "pauses are within budget, and loading types takes 10 % of the time or more, summed up over threads, in 20 loads or more, 500 ms or more in total; loads within another one are part of it",
		source:    "own; the times of TypeLoadStart and TypeLoadStop",
		find:      loadsTypes,
		advice: []advice{{
			text: "Look for types that are made at run time: MakeGenericType, dynamic code, assemblies that are loaded again.",
			next: recordStacks(TypeLoads, "record also which methods are compiled meanwhile, with their call stacks (loads of types have none)"),
		}},
	},
}

// takes finds that threads spend a share of the time, in percent, on something else than
// the GC. says has room for the time, its share, the number of things and the longest.
func (j *judgement) takes(much float64, waits func(*elsewhere.Sum) *elsewhere.Waits, thing, says string) (Finding, bool) {
	if j.Details.Elsewhere == nil || j.hurts() {
		return Finding{}, false
	}
	w := waits(j.Details.Elsewhere)
	share := of(w.Total, j.Summary.Watched())
	if w.Count < enoughWaits || w.Total < enoughTime || share < much {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf(says, units.Duration(w.Total), units.Percent(share), plural(w.Count, thing), units.Duration(w.Max)) + j.besidePauses(),
		Evidence: []Figure{
			{thing + "s", float64(w.Count)}, {thing + "s_ms", millis(w.Total)}, {thing + "s_pct", share}, {"longest_" + thing + "_ms", millis(w.Max)},
		},
	}, true
}

// besidePauses compares with the GC, and says what threads that were short of processors wait
// for in any case.
func (j *judgement) besidePauses() string {
	if waits := j.Summary.Process.Processor.WaitPct().Or(0); waits >= muchWaiting {
		return fmt.Sprintf(" That includes waiting for a processor, which took %s of the time in which the threads could run. GC pauses took %s.",
			units.Percent(waits), units.Percent(j.overall()))
	}
	return fmt.Sprintf(" GC pauses took %s.", units.Percent(j.overall()))
}

func loadsTypes(j *judgement) (Finding, bool) {
	f, ok := j.takes(muchLoading, func(s *elsewhere.Sum) *elsewhere.Waits { return &s.Types }, "load",
		"Loading types took %s: %s of the time, summed up over threads, in %s; the longest took %s.")
	if ok && j.Details.Elsewhere.Slowest != "" {
		f.Description += " The type that took longest is " + program.Inert(j.Details.Elsewhere.Slowest) + "."
	}
	return f, ok
}

func poolStarves(j *judgement) (Finding, bool) {
	s := j.Details.Elsewhere
	if s == nil || j.hurts() || s.Starved < enoughStarvation {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("The queue of the thread pool did not move, and it added a thread for that reason %s times, up to %s. Work waited for a thread meanwhile.",
			units.Count(s.Starved), plural(s.Threads, "thread")) + j.besidePauses(),
		Evidence: []Figure{{"starved", float64(s.Starved)}, {"pool_threads", float64(s.Threads)}},
	}, true
}

func throwsOften(j *judgement) (Finding, bool) {
	s, seconds := j.Details.Elsewhere, j.Summary.Watched().Seconds()
	if s == nil || j.hurts() || seconds <= 0 || s.Exceptions < manyExceptions || float64(s.Exceptions)/seconds < manyExceptions {
		return Finding{}, false
	}
	rate := float64(s.Exceptions) / seconds
	return Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("The program threw %s exceptions, %.0f a second%s.", units.Count(s.Exceptions), rate, mostThrown(s)) + j.besidePauses(),
		Evidence:    []Figure{{"exceptions", float64(s.Exceptions)}, {"exceptions_per_second", rate}},
	}, true
}

// mostThrown names the type of most exceptions; empty if none is known.
func mostThrown(s *elsewhere.Sum) string {
	if len(s.ByType) == 0 {
		return ""
	}
	most := slices.MinFunc(slices.Collect(maps.Keys(s.ByType)), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.ByType[b], s.ByType[a]), cmp.Compare(a, b))
	})
	n := units.Count(s.ByType[most])
	if s.ByType[most] == s.Exceptions {
		n = "all"
	}
	return fmt.Sprintf(", %s of them %s", n, program.Inert(most))
}
