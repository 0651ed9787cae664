// Package extent chooses how much the long tests do, which damage traces in thousands of
// ways, flood a reader with events, kill programs, wait for time limits or run .NET
// programs, how many traces tests of reports read, and whether the files with expected output are compared or written anew.
// GCTRAIL_TESTS is
//
//   - unset: a sample of each, and a third of the traces, so that go test ./... ends within two
//     minutes,
//   - all: as much as .ci/run does,
//   - full: every case there is, which takes hours.
//
// GCTRAIL_TURN is a number that .ci/run takes from the commit. Where the cases of a test are too
// many for one run, it chooses the share that this run does: also half of the scripts under the
// race detector.
package extent

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

const (
	variable = "GCTRAIL_TESTS"
	turn     = "GCTRAIL_TURN"
)

// Pick returns how much a test does in this run.
func Pick[T any](sample, all, full T) T {
	switch os.Getenv(variable) {
	case "full":
		return full
	case "all":
		return all
	}
	return sample
}

// Turn returns the number of this run; 0 unless GCTRAIL_TURN is set.
func Turn() int {
	n, _ := strconv.ParseUint(os.Getenv(turn), 10, 32)
	return int(n)
}

// Due reports whether a run does case i. A run of all does every nth case, others in each turn;
// a sample has few cases, and a full run the time for all.
func Due(i, n int) bool { return Pick(true, (i+Turn())%n == 0, true) }

// Share returns the cases that are due.
func Share[T any](cases []T, n int) []T {
	var share []T
	for i, c := range cases {
		if Due(i, n) {
			share = append(share, c)
		}
	}
	return share
}

// Sparse reports whether a run does case i. A sample does every nth case, other runs do all.
func Sparse(i, n int) bool { return Pick(i%n == 0, true, true) }

// Sampled reports whether a run uses a file. A sample uses about one in n, other runs use all.
// Tests choose the same ones, so that they can share reports.
func Sampled(path string, n int) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(filepath.Base(path)))
	return Sparse(int(h.Sum32()%1000), n)
}

// All reports whether the run does more than a sample.
func All() bool { return Pick(false, true, true) }

// Long skips a test that has no sample, except where the run does more.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if !All() {
		tb.Skipf("%s: set %s=all", why, variable)
	}
}

// Full skips a test that takes minutes, except in a run of every case.
func Full(tb testing.TB, why string) {
	tb.Helper()
	if !Pick(false, false, true) {
		tb.Skipf("%s: set %s=full", why, variable)
	}
}
