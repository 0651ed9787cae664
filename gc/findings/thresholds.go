package findings

import "time"

const (
	veryLongPause = 2 // own: times the budget; PerfView's table of long pauses begins at 200 ms

	normalSuspension = time.Millisecond      // mem-doc: normal is way below
	slowSuspension   = 10 * time.Millisecond // mem-doc: tens of milliseconds are a definite problem
	several          = 3                     // own: fewest collections that make a pattern
	manyJoins        = 10                    // own: fewest of which two that were preempted do not decide the sum

	longOnAverage = 10 * time.Millisecond // own: above, length costs more than frequency
	farFromMedian = 5                     // own: times the median
	aloneLongest  = 10 * time.Millisecond // own: shorter pauses do not matter

	inducedPerMinute = 6  // own
	someShare        = 10 // own, in percent: of the pauses that a cause explains
	largeShare       = 50 // own, in percent: of collections or pauses

	highLoad     = 90 // gc.cpp: threshold of high memory load below 80 GB of memory
	veryHighLoad = 97 // gc.cpp

	growth        = 1.3 // own: the last third over the first
	stillGrowing  = 1.1 // own: the last third over the middle one
	growthSamples = 9   // own: three for each third
	manyHandles   = 1000

	lowSurvival  = 5   // percent; own, after mem-doc's "most objects die young"
	highSurvival = 20  // percent; own
	fastAlloc    = 500 // MB a second; own

	peakRatio = 5           // own: the peak over the size after the collection
	manyBytes = 100_000_000 // own: smaller amounts of memory do not matter
	someBytes = 10_000_000  // own

	freeShare        = 30   // percent of the heap; own
	fragmented       = 50   // percent; mem-doc: up to 15 is nothing to worry about, 70 to 80 is not good
	pinnedObjects    = 1000 // own
	finalizedObjects = 1000 // own
	largeHeapShare   = 30   // percent of the heap that the LOH takes; own
	deadShare        = 80   // percent of the LOH that died; own
	lowListUse       = 50   // percent of gen2's free list that survivors fit into; own

	committedRatio  = 2 // own: committed over the heap's size
	manyCPUs        = 4 // own: fewest processors for which server GC can pay off
	smallServerHeap = 100_000_000

	targetCost = 2  // percent; gc.cpp: DATAS aims at it
	highCost   = 10 // percent; own: five times the target

	longWait = 200 * time.Millisecond // PerfView's table of waits for background collections

	startupTime = 2 * time.Second // own: code is loaded and caches are filled
	shortTrace  = 10 * time.Second
	fewGCs      = 20

	affectedShare = 1  // percent of the collections that loss may affect; own
	otherShare    = 10 // percent of the pauses that other suspensions add; own
	tracingShare  = 10 // percent of the pauses that tracing itself causes; own
)
