// Package attack reads damaged and made-up traces of every format from end to end,
// as report does. It consists of tests:
//
//   - TestHeaderBits flips bits of the headers of small traces, of headers that differ
//     only in their values one completely,
//   - TestMutations damages traces at random, in the way that the number GCTRAIL_SEED
//     chooses,
//   - TestFloods raises one event, or one of many ids, without end, in each format.
//
// GCTRAIL_TESTS chooses how often: see the package extent.
package attack
