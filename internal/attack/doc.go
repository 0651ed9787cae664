// Package attack reads damaged and made-up traces of every format from end to end,
// as report does. It consists of tests:
//
//   - TestHeaderBits flips each bit of the headers of small traces, of headers that
//     differ only in their values one completely: GCTRAIL_BITS=headers flips all
//     headers, GCTRAIL_BITS=all every bit of the traces,
//   - TestMutations damages traces at random: GCTRAIL_ATTACK=20000 says how many
//     times, GCTRAIL_SEED which way,
//   - TestFloods raises one event, or one of many ids, without end, in each format:
//     GCTRAIL_FLOOD=1000000 says how many events.
package attack
