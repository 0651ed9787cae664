// Package alloc sums up the allocations of a program by type, heap and stack, from the
// events with which the runtime samples allocations.
//
// Three kinds of events sample allocations, each in its own way:
//
//   - GCAllocationTick: after every 100 KB allocated on a heap, with the type
//     of the object that crossed the limit. The amounts add up to everything
//     allocated; the type is a sample, except for objects of 100 KB and more.
//   - AllocationSampled (.NET 10): each byte is sampled with a probability of
//     1/102400, so an object of s bytes is sampled with 1-(1-1/102400)^s. Its
//     bytes divided by that are an unbiased estimate.
//   - GCSampledObjectAllocation: the bytes of a type since its last event, of
//     every object; bytes after a type's last event are missing.
//
// A Model takes a trace's events. Its sums are Rows, each with the interval that contains
// the true number of bytes in 95 of 100 traces.
package alloc
