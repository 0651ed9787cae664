package report

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/findings"
)

// words are the definitions of screens' words besides figures: rules, reasons, kinds,
// generations, mechanisms, and the field's terms.
var words = sync.OnceValue(func() []figure.Definition {
	var all []figure.Definition
	add := func(unit, source, name, text string) {
		all = append(all, figure.Definition{Name: name, Unit: unit, Text: text, Source: source})
	}
	for _, r := range findings.Rules() {
		text := strings.ToUpper(r.Title[:1]) + r.Title[1:] + ". Fires where " + r.Threshold + "."
		for _, a := range r.Advice {
			if a.Text != "" {
				text += " " + a.Text
			}
		}
		add("rule, "+r.Kind, r.Source, r.ID, text)
	}
	for r, text := range sorted(reasonGlosses) {
		add("reason", "Reason of GCStart; gc_reason in gc.h", r.String(), "What triggered the GC: "+text+".")
	}
	for r, text := range sorted(suspensionGlosses) {
		add("reason of a suspension", "Reason of GCSuspendEEBegin", r.String(), "Why threads were suspended: "+text+".")
	}
	for c, text := range sorted(condemnedWords) {
		add("condemned reason", "CondemnReasons1 of GCPerHeapHistory; gc.cpp, generation_to_condemn", strings.Join(c.Names(), " "), text)
	}
	for m, text := range sorted(mechanismWords) {
		add("mechanism", "GlobalMechanisms of GCGlobalHeapHistory", strings.Join(m.Names(), " "), text)
	}
	for r, text := range sorted(rootWords) {
		add("kind of root", "Type of GCMarkWithType", r.String(), "The GC marks from "+text+".")
	}
	for k, text := range sorted(kindWords) {
		add("kind", "Type of GCStart, GlobalMechanisms", k.String(), text)
	}
	for _, w := range terms {
		add(w.unit, w.source, w.name, w.text)
	}
	return all
})

// sorted yields the words of codes in the order of the codes, so that two pages about one
// trace are equal.
func sorted[K cmp.Ordered](words map[K]string) iter.Seq2[K, string] {
	return func(yield func(K, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(words)) {
			if !yield(k, words[k]) {
				return
			}
		}
	}
}

// aliases are words of screens that mean a figure.
var aliases = map[string]string{
	"time in gc": "pause share", "% time in gc": "pause share", "heap": "heap after", "before": "heap before", "suspend": "suspension",
	"load": "memory load", "rate": "allocation rate", "uptime": "up", "growth/s": "growth_per_s", "GCs in a row": "longest_run", "pins": "pinned",
	"95 % from": "low_bytes", "to MB": "high_bytes", "with callees MB": "inclusive_bytes", "MB/s": "bytes_per_s", "came last": "last", "others waited": "held_ms", "others waited ms": "held_ms",
	"working": "working_ms", "waiting": "waiting_ms", "waking": "waking_ms",
	"% time paused": "pause share", "paused": "pause share", "paused %": "pause share", "%": "pause share",
	"GCs": "collection", "collections": "collection", "GC/s": "collection", "count": "collection", "gen": "generation",
	"last ms": "pause", "pause ms": "pause", "total": "pause", "total ms": "pause", "paused ms": "pause",
	"max": "max pause", "max ms": "max pause", "longest ms": "max pause", "at": "start", "start ms": "start", "suspend ms": "suspension",
	"p50": "percentile", "p90": "percentile", "p99": "percentile", "suspending": "suspension",
	"alloc": "allocation rate", "alloc MB": "allocated", "alloc MB/s": "allocation rate", "heap MB": "heap after", "after MB": "heap after", "before MB": "heap before",
	"size": "heap after", "freed MB": "freed", "promoted MB": "promoted", "free space": "free space", "load %": "memory load",
	"decided by": "condemned", "mostly": "phase times", "survival rate": "survival", "fragmentation": "free space", "finalizer queue": "finalization",
	"exact": "freed", "estimate": "freed", "lower_bound": "freed",
	"longest": "max pause", "window": "worst window", "program %": "worst window", "from": "worst window", "marking ms": "marking",
	"to": "high_bytes", "most from": "method", "regions +": "segments_created", "live": "segments_live", "in lists MB": "free_list_bytes",
	"GC pause time": "pause share", "mean pause": "pause", "median pause": "percentile", "p90 pause": "percentile", "p99 pause": "percentile", "longest pause": "max pause",
	"pause_mean_ms": "pause", "mean suspension": "suspension", "suspend_mean_ms": "suspension", "promoted by a collection": "promoted", "promoted_mean_bytes": "promoted",
	"heap after collections": "heap after", "heap_after_mean_bytes": "heap after", "heap_bytes": "heap after", "at_ms": "start", "mark_ms": "marking", "after": "heap after", "largest heap": "heap peak", "most committed": "committed", "committed_peak_bytes": "committed",
	"gen 0 collections": "generation", "gen 1 collections": "generation", "gen 2 collections": "generation", "gen0_collections": "generation", "gen1_collections": "generation", "gen2_collections": "generation",
	"with it": "present", "worse": "better", "work": "work_per_s", "processor time per unit of work": "cpu_per_work_ms", "time": "elapsed_s", "processor time": "cpu_s", "time paused": "pause share",
	"p99 request": "request_p99_ms", "peak memory": "peak_memory_bytes", "GC processor time, at least": "GC processor time",
	"changed": "verdict", "same": "verdict", "cannot tell": "verdict", "cannot_tell": "verdict", "before, %": "cause", "after, %": "cause", "value": "metric", "unit": "metric",
	"GCs inside": "foreground_gcs", "pages again": "revisited_pages", "objects again": "revisited_objects",
	"initial mark": "initial_mark_ms", "mark": "concurrent_mark_ms", "wait": "final_wait_ms", "final mark": "final_mark_ms", "sweep": "sweep_ms",
	"justified": "heaps_limit", "cost %": "cost_pct", "decided by %": "considered_pct", "live MB": "stable_bytes", "of": "tuning", "marked MB": "marked_bytes",
	"since last ms": "since last", "gen0 budget MB": "budget", "gc pauses": "pause",
	"note": "confidence", "warning": "confidence", "problem": "confidence", "low": "confidence", "medium": "confidence", "high": "confidence",
}

// condemnedWords explain why a generation is collected.
var condemnedWords = map[clr.CondemnReasons1]string{
	clr.CondemnReasons1InducedFullGC:                                    "GC.Collect asked for all generations.",
	clr.CondemnReasons1ExpandFullGC:                                     "A gen 0 or gen 1 GC found no room to grow into.",
	clr.CondemnReasons1HighMemoryLoad:                                   "The memory load is high. No runtime sets it.",
	clr.CondemnReasons1VeryHighMemoryLoad:                               "The memory load is very high. No runtime sets it.",
	clr.CondemnReasons1LowEphemeral:                                     "There is little room for gen 0 and gen 1: at least gen 1 is collected.",
	clr.CondemnReasons1LowCardTableEfficiency:                           "Old objects refer to young ones in too many places to look through for each gen 0 GC.",
	clr.CondemnReasons1EphemeralHighFragmentation:                       "Gen 0 or gen 1 is fragmented, mostly by pinned objects.",
	clr.CondemnReasons1MaxGenerationHighFragmentation:                   "Gen 2 is fragmented: a blocking GC compacts it (R43).",
	clr.CondemnReasons1MaxGenerationHighFragmentationEphemeralPromotion: "Gen 2 is fragmented, and gen 1's survivors need room in it.",
	clr.CondemnReasons1MaxGenerationHighFragmentationMemory:             "The memory load is high, and gen 2 has free space to give back (R22).",
	clr.CondemnReasons1MaxGenerationHighFragmentationVeryHighMemory:     "The memory load is very high, and gen 2 has free space to give back (R22).",
	clr.CondemnReasons1MaxGen1:                                          "Gen 1 reached its largest size: gen 2's budget counts as used up.",
	clr.CondemnReasons1BeforeOOM:                                        "The last GC before an OutOfMemoryException (R61).",
	clr.CondemnReasons1Gen2TooSmall:                                     "Gen 2 is too small for a background GC to pay: a blocking one is cheap.",
	clr.CondemnReasons1InducedNoForce:                                   "GC.AddMemoryPressure, or GC.Collect with Optimized or without blocking, asked for it (R52).",
	clr.CondemnReasons1BeforeBGC:                                        "The gen 0 or gen 1 GC that comes before a background GC.",
	clr.CondemnReasons1AlmostMaxAlloc:                                   "The memory load is high, and gen 2's budget is nearly used up.",
	clr.CondemnReasons1JoinedAvoidUnproductiveFullGC:                    "Full GCs free nothing: gen 1 is collected instead.",
	clr.CondemnReasons1JoinedPMInducedFullGC:                            "Provisional mode: a gen 1 GC asked for a full one (R23).",
	clr.CondemnReasons1JoinedPMAllocLOH:                                 "Provisional mode: a large allocation asked for a full GC (R23).",
	clr.CondemnReasons1JoinedGen1InPM:                                   "Provisional mode: gen 1 is collected first (R23).",
	clr.CondemnReasons1JoinedLimitBeforeOOM:                             "The last GC under the heap's hard limit before an OutOfMemoryException (R61).",
	clr.CondemnReasons1JoinedLimitLOHFrag:                               "Under the hard limit, over an eighth of the limit is free space in the LOH (R45).",
	clr.CondemnReasons1JoinedLimitLOHReclaim:                            "Under the hard limit, a full GC may free over an eighth of the limit in the LOH.",
	clr.CondemnReasons1JoinedServoInitial:                               "Experimental tuning of background GCs: the first one.",
	clr.CondemnReasons1JoinedServoNgc:                                   "Experimental tuning of background GCs: a blocking one.",
	clr.CondemnReasons1JoinedServoBGC:                                   "Experimental tuning of background GCs: a background one.",
	clr.CondemnReasons1JoinedServoPostpone:                              "Experimental tuning of background GCs: put off.",
	clr.CondemnReasons1JoinedStressMix:                                  "A stress mode of the runtime's tests.",
	clr.CondemnReasons1JoinedStress:                                     "A stress mode of the runtime's tests.",
	clr.CondemnReasons1JoinedAggressive:                                 "GC.Collect with GCCollectionMode.Aggressive asked for it (R21).",
}

var mechanismWords = map[clr.GlobalMechanisms]string{
	clr.GlobalMechanismsConcurrent:       "The GC ran in the background.",
	clr.GlobalMechanismsCompaction:       "The GC moved objects together.",
	clr.GlobalMechanismsPromotion:        "Survivors moved to the next older generation.",
	clr.GlobalMechanismsDemotion:         "Some survivors stayed in a younger generation, mostly since pinned objects were among them.",
	clr.GlobalMechanismsCardBundles:      "The GC looked for references from old to young objects by bundles of cards, which is faster in a large heap.",
	clr.GlobalMechanismsElevationReduced: "A gen 2 GC was lowered to gen 1, since the ones before it freed little.",
}

var rootWords = map[clr.RootType]string{
	clr.RootTypeStack:            "the stacks and registers of threads",
	clr.RootTypeFinalizeQueue:    "objects that wait for their finalizers",
	clr.RootTypeHandles:          "GC handles",
	clr.RootTypeOlder:            "older generations that are not collected",
	clr.RootTypeSizedRef:         "handles that measure what they refer to",
	clr.RootTypeOverflow:         "objects that did not fit on the mark stack",
	clr.RootTypeDependentHandles: "dependent handles: ConditionalWeakTable and what is built on it",
	clr.RootTypeNewFQ:            "objects that were found dead and have a finalizer",
	clr.RootTypeSteal:            "work that one GC thread takes over from another",
	clr.RootTypeBGC:              "the roots of a background GC",
}

var kindWords = map[gc.Kind]string{
	gc.Blocking:   "Threads are paused from the GC's start to its end.",
	gc.Background: "Gen 2, the LOH and the POH are collected while threads run, with two short pauses.",
	gc.Foreground: "A blocking gen 0 or gen 1 GC during a background one.",
}

// definition finds the meanings of a screen's word besides the figures of its name.
func definition(name string) []figure.Definition {
	for alias, means := range aliases {
		if strings.EqualFold(alias, name) {
			return Definitions(means)
		}
	}
	if strings.HasPrefix(name, "mark_") { // from one kind of root
		if strings.HasSuffix(name, "_bytes") {
			return Definitions("marked_bytes")
		}
		return Definitions("marking")
	}
	for _, unit := range []string{" µs", " ms", " s", " B", " kB", " MB", " GB"} {
		if stem, ok := strings.CutSuffix(name, unit); ok && stem != "" {
			return Definitions(stem)
		}
	}
	var found []figure.Definition
	for _, w := range words() {
		if strings.EqualFold(w.Name, name) {
			found = append(found, w)
		}
	}
	if found != nil {
		return found
	}
	for _, f := range figure.Conditions() {
		if strings.EqualFold(f.Until.Word, name) && f.Term != name {
			return Definitions(f.Term)
		}
	}
	return nil
}
