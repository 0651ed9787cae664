// Package profiler samples the allocations of running processes all the time, and sends them
// as profiles to Pyroscope, or to an endpoint of OTLP.
//
// Each process has a session of sampled allocations with their stacks: AllocationSampled from
// .NET 10 on, allocation ticks before. Their sums are sent at intervals, and forgotten.
//
// The stacks are addresses. A second session, which asks the runtime for the list of its methods
// and ends at once, names them: of the list, the methods are kept that were seen in stacks. Such
// a list is asked for when an interval has unknown addresses. No more than a fiftieth of the time
// goes into lists, except soon after the start; until then the interval goes on.
package profiler
