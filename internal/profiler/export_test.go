package profiler

// MaxEvents is maxEvents.
const MaxEvents = maxEvents
