// Package alloc sums up what a program allocates, by type, heap and stack, from
// the events with which the runtime samples allocations.
//
// Three kinds of events sample allocations, in very different ways:
//
//   - GCAllocationTick: after every 100 KB allocated on a heap, with the type of
//     the object that crossed the line. Amounts add up to all that was
//     allocated; the type is a sample, but for objects of 100 KB and more.
//   - AllocationSampled (.NET 10): each byte is sampled with a probability of
//     1/102400, so that an object of s bytes is with 1-(1-1/102400)^s. Its bytes
//     divided by that are an unbiased estimate.
//   - GCSampledObjectAllocation: the bytes of a type since its last event, of
//     every object; what follows a type's last event is missing.
//
// A Model is fed with a trace's events. Rows are its sums, each with the
// interval that holds the true number of bytes in 95 of 100 traces.
package alloc
